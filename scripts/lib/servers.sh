# shellcheck shell=bash
# Servers of Debian that tests start themselves: PostGIS for PostgreSQL 15, PgBouncer, Redis. Needs base.sh.

test_servers() {
  have apt-get || die "tests need PgBouncer, Redis, and PostgreSQL 15 with PostGIS, as Debian 12 packages them"
  [[ -x /usr/sbin/pgbouncer && -x /usr/bin/redis-server && -x /usr/lib/postgresql/15/bin/postgres &&
    -f /usr/share/postgresql/15/extension/postgis.control ]] && return 0
  ((EUID == 0)) && keep_quiet
  debian "tests run behind PgBouncer, with Redis and with PostGIS" pgbouncer redis-server postgresql-15 postgresql-15-postgis-3
  speak_again
}

# Installing a server package must neither start it nor make a database cluster; what others set up stays.
no_start=/usr/sbin/policy-rc.d
no_cluster=/etc/postgresql-common/createcluster.d/pinguard-tests.conf
made=()

keep_quiet() {
  trap speak_again EXIT
  if [[ ! -e $no_start ]]; then
    made+=("$no_start")
    printf '#!/bin/sh\nexit 101\n' >"$no_start"
    chmod 755 "$no_start"
  fi
  if [[ ! -e $no_cluster ]]; then
    made+=("$no_cluster")
    mkdir -p "${no_cluster%/*}"
    echo 'create_main_cluster = false' >"$no_cluster"
  fi
}

speak_again() {
  ((${#made[@]})) && rm -f "${made[@]}"
  made=()
  trap - EXIT
}
