# Varnish as a cache in front of three replicas, after a proxy that terminates TLS. It caches a page for 2 s, so that a
# replica gets one request for it in that time, and then revalidates it by its tag, which costs a 304. Set the time as
# you like. A replica that drains, loads or is stale (--max-stale) gets no requests half a second later, within its
# --drain-grace-seconds. If none is ready, all get requests: stale data, or the replica's 503 with Retry-After, is
# better than nothing. To change: the replicas (twice each). Start it with
# varnishd -F -f varnish.vcl -a :80 -s malloc,512m -p backend_idle_timeout=5 -p http_gzip_support=off
#   -p http_req_size=128k -p http_req_hdr_len=66k -p http_resp_size=128k -p http_resp_hdr_len=66k -p http_max_hdr=128
#   -p workspace_client=384k -p workspace_backend=384k -p timeout_idle=60 -p http_range_support=off
# These flags allow request lines of 64 kB and redirections that repeat them, pass gzip through with its tags, and close
# idle connections before a replica does so, which may be after 8 s. Exports then have no ranges.
vcl 4.1;

import directors;
import std;

probe ready {
  .url = "/healthz";
  .interval = 250ms;
  .timeout = 1s;
  .window = 2;
  .threshold = 2;
  .initial = 1;
}

backend a { .host = "127.0.0.1"; .port = "8081"; .probe = ready; .connect_timeout = 1s; }
backend b { .host = "127.0.0.1"; .port = "8082"; .probe = ready; .connect_timeout = 1s; }
backend c { .host = "127.0.0.1"; .port = "8083"; .probe = ready; .connect_timeout = 1s; }
# The same without a probe.
backend any_a { .host = "127.0.0.1"; .port = "8081"; .connect_timeout = 1s; }
backend any_b { .host = "127.0.0.1"; .port = "8082"; .connect_timeout = 1s; }
backend any_c { .host = "127.0.0.1"; .port = "8083"; .connect_timeout = 1s; }

sub vcl_init {
  new those_ready = directors.round_robin();
  those_ready.add_backend(a);
  those_ready.add_backend(b);
  those_ready.add_backend(c);
  new all_replicas = directors.round_robin();
  all_replicas.add_backend(any_a);
  all_replicas.add_backend(any_b);
  all_replicas.add_backend(any_c);
  new catalogue = directors.fallback();
  catalogue.add_backend(those_ready.backend());
  catalogue.add_backend(all_replicas.backend());
}

sub vcl_recv {
  set req.backend_hint = catalogue.backend();
  # A proxy in front may have set it.
  if (!req.http.X-Forwarded-Host) {
    set req.http.X-Forwarded-Host = req.http.Host;
  }
  # The id in the access log and the audit of the replica, with --access-log and this host as a --trusted-proxy.
  if (!req.http.X-Request-Id) {
    set req.http.X-Request-Id = req.xid;
  }
  # One object for all clients that accept gzip.
  if (req.http.Accept-Encoding ~ "gzip" && req.http.Accept-Encoding !~ "gzip\s*;\s*q=0") {
    set req.http.Accept-Encoding = "gzip";
  }
  # The API is read-only and has no users. POST is for the attribute authority only.
  unset req.http.Cookie;
  if (req.method == "OPTIONS" || req.url == "/healthz") {
    return (pass);
  }
  # Only a cached body can be sent again.
  if (req.method == "POST" && std.cache_req_body(1MB)) {
    return (pass);
  }
}

# The built-in rules pipe unknown methods: the request and all bytes after it would bypass this file.
sub vcl_pipe {
  return (synth(405));
}

sub vcl_synth {
  if (resp.status == 405) {
    set resp.http.Allow = "GET, HEAD, OPTIONS, POST";
  }
}

sub vcl_backend_fetch {
  # A retry goes to the next replica.
  set bereq.backend = catalogue.backend();
}

sub vcl_backend_response {
  # Long exports and errors are not cached. For the time below, requests for them do not wait for each other.
  if (beresp.status != 200 || bereq.uncacheable || beresp.http.Content-Length ~ "^[0-9]{8}") {
    set beresp.uncacheable = true;
    set beresp.ttl = 120s;
    return (deliver);
  }
  set beresp.ttl = 2s;
  set beresp.grace = 0s;
  set beresp.keep = 1h;
  return (deliver);
}

sub vcl_deliver {
  # A cached page has the id of an earlier request.
  if (obj.hits > 0 && resp.http.X-Request-Id) {
    set resp.http.X-Request-Id = req.http.X-Request-Id;
  }
}

sub vcl_backend_error {
  # A replica that stopped after the last probe.
  if (bereq.retries < 2) {
    return (retry);
  }
}
