// An OpenID provider for tests: node provider.mjs FOLDER CLIENTS, where FOLDER has the npm package in its node_modules and
// CLIENTS is a JSON list of {id, alg, claims}. Prints its issuer when it listens; ends with its standard input.
//
// Beside what the provider serves: POST /test/rotate has it sign with new keys, and POST /test/sign signs any token with
// its own.
import http from 'node:http';
import { createRequire } from 'node:module';
import { text } from 'node:stream/consumers';
import { pathToFileURL } from 'node:url';

const [folder, clients] = [process.argv[2], JSON.parse(process.argv[3])];
const at = createRequire(`${folder}/x`);
const load = (name) => import(pathToFileURL(at.resolve(name)));
const { Provider } = await load('oidc-provider');
const jose = await load('jose');

const ALGORITHMS = ['RS256', 'PS256', 'ES256', 'EdDSA'];

async function keys() {
  const pairs = await Promise.all(ALGORITHMS.map(async (alg) => {
    const { privateKey, publicKey } = await jose.generateKeyPair(alg, { extractable: true });
    const jwk = { ...await jose.exportJWK(privateKey), alg, use: 'sig', kid: crypto.randomUUID() };
    return [alg, { jwk, privateKey, publicKey }];
  }));
  return Object.fromEntries(pairs);
}

function provider(issuer, keys) {
  const client = (id) => clients.find((client) => client.id === id);
  return new Provider(issuer, {
    jwks: { keys: Object.values(keys).map(({ jwk }) => jwk) },
    cookies: { keys: ['a secret of this process'] },
    clients: clients.map(({ id }) => ({
      client_id: id,
      client_secret: 'secret',
      grant_types: ['client_credentials'],
      response_types: [],
      redirect_uris: [],
      token_endpoint_auth_method: 'client_secret_post',
    })),
    features: {
      devInteractions: { enabled: false },
      clientCredentials: { enabled: true },
      resourceIndicators: {
        enabled: true,
        getResourceServerInfo: (_, resource, { clientId }) => ({
          audience: resource,
          scope: 'mcp:call chatflows:update agentflows:update flows:read audit:read keys:manage',
          accessTokenFormat: 'jwt',
          jwt: { sign: { alg: client(clientId).alg ?? 'RS256' } },
        }),
      },
    },
    extraTokenClaims: (_, token) => client(token.clientId).claims,
  });
}

let current = await keys();
let callback;
const server = http.createServer(async (request, response) => {
  const issuer = `http://127.0.0.1:${server.address().port}`;
  if (request.url === '/test/rotate') {
    current = await keys();
    callback = provider(issuer, current).callback();
    response.end();
  } else if (request.url === '/test/sign') {
    const { header, claims } = JSON.parse(await text(request));
    const own = current[header.alg];
    // What a server that mixes up algorithms would take for a shared secret.
    const key = own?.privateKey ?? new TextEncoder().encode(await jose.exportSPKI(current.RS256.publicKey));
    const token = new jose.SignJWT({ iss: issuer, ...claims }).setProtectedHeader({ kid: own?.jwk.kid ?? current.RS256.jwk.kid, ...header });
    response.end(await token.sign(key));
  } else {
    callback ??= provider(issuer, current).callback();
    callback(request, response);
  }
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.on('end', () => process.exit()).resume();
