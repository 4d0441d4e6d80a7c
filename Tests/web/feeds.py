"""A feed on the web of this machine, for tests of the views that show it."""

import http.server
import os
import threading

from browser import PageCase
from support import Case

feed = """<?xml version="1.0"?><rss version="2.0"><channel><title>Radio</title><link>http://localhost/</link>
<item><title>First episode</title><guid>1</guid><pubDate>Tue, 24 Nov 2026 08:00:00 GMT</pubDate>
<enclosure url="http://localhost/1.mp3" length="1" type="audio/mpeg"/></item>
<item><title>Second episode</title><guid>2</guid><pubDate>Tue, 24 Nov 2026 09:00:00 GMT</pubDate>
<enclosure url="http://localhost/2.mp3" length="1" type="audio/mpeg"/></item></channel></rss>"""


class FeedHandler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.server.gate.wait()
        body = feed.encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/rss+xml")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class FeedCase(PageCase):
    """A test whose daemon may fetch feeds from this machine. `self.gate` holds them back while it is not set."""

    def setUp(self):
        Case.setUp(self)
        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), FeedHandler)
        self.gate = self.server.gate = threading.Event()
        self.gate.set()
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.addCleanup(self.server.server_close)
        self.addCleanup(self.server.shutdown)
        self.addCleanup(self.gate.set)
        path = f"{self.place.directory}/binder.conf"
        with open(path, "w") as file:
            file.write('{"web": {"allow_local": true}}')
        os.chmod(path, 0o600)
        self.place.start_daemon("--config", path)
        self.printed = self.place.start_web()
