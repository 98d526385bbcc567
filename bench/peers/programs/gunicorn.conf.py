"""gunicorn for the Django peer: one process serves, in one thread. It prints its address when it is ready."""
bind = "127.0.0.1:0"
workers = 1
# The default class closes a connection after each response.
worker_class = "gthread"
threads = 1
keepalive = 75
graceful_timeout = 1
loglevel = "warning"


def post_worker_init(worker):
    host, port = worker.sockets[0].getsockname()
    print(f"listening on http://{host}:{port} ", flush=True)
