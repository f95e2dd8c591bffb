"""The two services of AWS that servers here ask, as far as they ask: Secrets Manager, and RDS for an instance's address."""

import json
import time

from loopback import Loopback

INSTANCE = """<DescribeDBInstancesResponse xmlns="http://rds.amazonaws.com/doc/2014-10-31/"><DescribeDBInstancesResult>
<DBInstances><DBInstance><DBInstanceIdentifier>bench</DBInstanceIdentifier><Endpoint><Address>{}</Address><Port>{}</Port>
</Endpoint></DBInstance></DBInstances></DescribeDBInstancesResult></DescribeDBInstancesResponse>"""

JSON = {"content-type": "application/x-amz-json-1.1"}


class Aws:
    """A stand-in that knows some secrets, by id, and one instance. It checks no signature."""

    def __init__(self, secrets, host, port):
        self._answers = {name: json.dumps({
            "ARN": name, "Name": name, "SecretString": text, "VersionStages": ["AWSCURRENT"],
            "VersionId": "00000000-0000-0000-0000-000000000001", "CreatedDate": 1796083200.0}).encode()
            for name, text in secrets.items()}
        # The secrets that were asked for, each with the time at which.
        self.asked = []
        self._instance = INSTANCE.format(host, port).encode()
        self._server = Loopback(self._take)
        self.url = f"http://{self._server.address}"

    def close(self):
        """Ends it."""
        self._server.close()

    def _take(self, _, headers, body, answer):
        if headers.get("x-amz-target") == "secretsmanager.GetSecretValue":
            name = json.loads(body)["SecretId"]
            self.asked.append((name, time.perf_counter()))
            secret = self._answers.get(name)
            if secret:
                answer("200 OK", JSON, secret)
            else:
                answer("400 Bad Request", JSON, b'{"__type":"ResourceNotFoundException"}')
        elif b"Action=DescribeDBInstances" in body:
            answer("200 OK", {"content-type": "text/xml"}, self._instance)
        else:
            answer("400 Bad Request", JSON, b'{"__type":"InvalidRequestException"}')
