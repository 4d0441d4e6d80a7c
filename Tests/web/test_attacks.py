"""What others may try to reach the daemon through binder-web. A refused request gets a page that says why, and the
daemon does not see it."""

import os
import resource
import socket
import stat
import struct
import subprocess
import threading
import time
import unittest

from support import (
    Case, Closed, FakeDaemon, Session, WebSocket, eventually, listens, programs, receive, request, root, send_raw,
)


class Refusals(Case):
    """With a daemon that only counts its clients."""

    def setUp(self):
        super().setUp()
        self.daemon = FakeDaemon(self.place.socket)
        self.addCleanup(self.daemon.close)
        self.printed = self.place.start_web()
        self.session = Session(self.printed)
        self.address = self.session.address
        self.assertEqual(self.session.answer.status, 200)

    def refused(self, answer, status, reason):
        self.assertEqual(answer.status, status, answer)
        self.assertIn(reason, answer.text)
        self.assertIn("text/html", answer.headers["content-type"])
        self.assertEqual(self.daemon.count(), 0)

    def test_an_admitted_browser_reaches_the_daemon(self):
        web_socket = self.open(self.session)
        self.assertEqual(web_socket.answer.status, 101)
        eventually(lambda: self.daemon.count() == 1)

    def test_dns_rebinding(self):
        for host in ("evil.example", f"evil.example:{self.place.port}", "127.0.0.1", ""):
            answer = self.session.get(host=host)
            self.refused(answer, 421, "does not answer for the host name")
            answer = self.open(self.session, host=host, origin=f"http://{host}").answer
            self.refused(answer, 421, "does not answer for the host name")
        # As a browser asks after its name server has changed the address.
        answer = request(self.address, f"/?token={'0' * 32}", host=f"evil.example:{self.place.port}")
        self.refused(answer, 421, "does not answer for the host name")

    def test_a_websocket_of_another_origin(self):
        for origin in ("http://evil.example", "null", "http://127.0.0.1:1", f"http://localhost:{self.place.port}"):
            answer = self.open(self.session, origin=origin).answer
            self.refused(answer, 403, "A page of another site")
        self.refused(self.open(self.session, origin=None).answer, 403, "A page of another site")

    def test_requests_forged_by_another_site(self):
        for method in ("POST", "PUT", "DELETE", "OPTIONS"):
            answer = self.session.get(method=method, headers=[("Content-Length", "0")])
            self.assertIn(answer.status, (405, 403), answer)
            self.assertEqual(self.daemon.count(), 0)
        answer = self.session.get(headers=[("Origin", "http://evil.example")])
        self.refused(answer, 403, "A page of another site")
        for site in ("cross-site", "same-site"):
            answer = self.session.get("/app.js", headers=[("Sec-Fetch-Site", site)])
            self.refused(answer, 403, "A page of another site")
        # A link to the page may be on another site; then the browser sends no cookie.
        self.assertEqual(self.session.get(headers=[("Sec-Fetch-Site", "cross-site")]).status, 200)

    def test_a_token_is_used_once_and_not_guessed(self):
        self.refused(request(self.address, self.printed.partition(self.place.host)[2]), 403, "was used by a browser")
        for token in ("", "0", "0" * 32, "0" * 4000):
            answer = request(self.address, f"/?token={token}")
            self.assertIn(answer.status, (400, 403), answer)
            self.assertNotIn("set-cookie", answer.headers)
        self.assertEqual(self.daemon.count(), 0)
        other = Session(self.place.another_address())
        self.assertNotEqual(other.cookie, self.session.cookie)
        self.assertEqual(other.get().status, 200)

    def test_two_browsers_at_the_same_token(self):
        printed = self.place.another_address()
        answers = []
        threads = [threading.Thread(target=lambda: answers.append(Session(printed).answer.status)) for _ in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertEqual(sorted(answers), [200] + [403] * 7)

    def test_a_stolen_cookie_opens_nothing(self):
        cookie = self.session.answer.headers["set-cookie"]
        for word in ("HttpOnly", "SameSite=Strict", "Path=/"):
            self.assertIn(word, cookie)
        self.assertNotIn("Domain", cookie)
        # Another program of this machine sees the cookie on its own port. It does not see the key.
        for protocols in ("binder", f"binder, key.{'0' * 32}", f"binder, key.{self.session.cookie[-32:]}"):
            answer = self.open(self.session, protocols=protocols).answer
            self.refused(answer, 403, "has not sent the key")
        self.refused(self.open(self.session, cookie=None).answer, 403, "was not admitted")
        mode = [os.stat(f"{self.place.directory}/binder/{name}") for name in os.listdir(f"{self.place.directory}/binder")]
        self.assertTrue(mode)
        for status in mode:
            self.assertEqual(stat.S_IMODE(status.st_mode) & 0o077, 0)

    def test_nothing_without_a_session(self):
        self.refused(request(self.address), 403, "was not admitted")
        self.refused(request(self.address, "/app.js"), 403, "was not admitted")
        self.refused(request(self.address, "/client/binder.js"), 403, "was not admitted")
        self.assertEqual(request(self.address, "/refused.css").status, 200)

    def test_paths_outside_the_page(self):
        secret = "daemon"  # a word of every passwd
        for path in (
            "/../../../../etc/passwd", "/client/../../../../etc/passwd", "/%2e%2e/%2e%2e/%2e%2e/%2e%2e/etc/passwd",
            "/client/..%2f..%2f..%2f..%2fetc/passwd", "/client/%2e%2e/package.json", "//etc/passwd", "/client//etc/passwd",
            "/..\\..\\etc\\passwd", "/client/", "/client", "/charts/../../../../etc/passwd", "/%00", "/index.html%00.js",
            "/client/..;/..;/etc/passwd", "/.git/config", "/../Package.swift", "/client/../../../Package.swift",
        ):
            with self.subTest(path):
                answer = self.session.get(path)
                self.assertNotIn(secret, answer.text)
                self.assertNotIn("swift-tools-version", answer.text)
                self.assertNotIn("[core]", answer.text)
                if path != "/%00":  # this is the page itself
                    self.assertIn(answer.status, (None, 301, 400, 403, 404), answer)
        # The absolute form reaches the page only, too.
        answer = request(self.address, f"http://{self.place.host}/etc/passwd", [("Cookie", self.session.cookie)])
        self.assertNotIn(secret, answer.text)

    def test_a_flood_of_headers(self):
        memory = self.memory()
        for head in (
            "".join(f"X-{i}: {'y' * 100}\r\n" for i in range(5000)),
            f"X-Long: {'y' * 1_000_000}\r\n",
            f"Cookie: {'c=' + 'y' * 20_000}\r\n",
        ):
            data = f"GET / HTTP/1.1\r\nHost: {self.place.host}\r\n{head}\r\n".encode()
            try:
                answer = send_raw(self.address, data)
            except (ConnectionResetError, BrokenPipeError):
                answer = b""
            self.assertNotIn(b"HTTP/1.1 200", answer)
        try:
            answer = send_raw(self.address, b"GET /" + b"x" * 1_000_000 + b" HTTP/1.1\r\n\r\n")
        except (ConnectionResetError, BrokenPipeError):
            answer = b""
        self.assertNotIn(b" 200 ", answer)
        self.assertLess(self.memory() - memory, 4 << 20)
        self.assertEqual(self.session.get().status, 200)
        self.assertEqual(self.daemon.count(), 0)

    def test_cookies_of_other_programs_on_the_host(self):
        cookies = "; ".join(f"other{i}={'y' * 900}" for i in range(6))
        answer = request(self.address, "/", [("Cookie", f"{cookies}; {self.session.cookie}")])
        self.assertEqual(answer.status, 200, answer)

    def test_slow_requests_do_not_keep_others_out(self):
        # It takes a third as many connections as it may have descriptors.
        allowed = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
        number = 100 if allowed == resource.RLIM_INFINITY else min(100, (allowed - 32) // 6)
        slow = []
        for _ in range(number):
            connection = socket.create_connection(self.address)
            self.addCleanup(connection.close)
            connection.sendall(b"GET / HTTP/1.1\r\nHost: ")
            slow.append(connection)
        self.assertEqual(self.session.get().status, 200)
        for _ in range(3):  # a byte now and then is not enough
            time.sleep(0.5)
            for connection in slow:
                try:
                    connection.sendall(b"x")
                except (BrokenPipeError, ConnectionResetError):
                    pass

        def are_closed():
            for connection in slow:
                connection.settimeout(0.01)
                try:
                    if connection.recv(4096):
                        continue
                except TimeoutError:
                    return False
                except ConnectionResetError:
                    pass
            return True

        eventually(are_closed, what="slow connections are closed")
        self.assertEqual(self.daemon.count(), 0)

    def test_what_is_not_http(self):
        for data in (
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(200), b"\r\n\r\n", b"GET\r\n\r\n", bytes(1000),
            b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", b"GET / HTTP/9.9\r\n\r\n", b"CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n\r\n",
            b'{"id":1,"method":"ping"}\n', os.urandom(5000),
            f"GET / HTTP/1.1\r\nHost: {self.place.host}\r\nUpgrade: h2c\r\nConnection: Upgrade, HTTP2-Settings\r\n"
            "HTTP2-Settings: AAMAAABkAAQAAP__\r\n\r\n".encode(),
            f"GET / HTTP/1.1\r\nHost: {self.place.host}\r\nHost: evil.example\r\n\r\n".encode(),
            f"GET / HTTP/1.1\r\nHost: {self.place.host}\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n".encode(),
        ):
            with self.subTest(data[:40]):
                try:
                    answer = send_raw(self.address, data, 8)
                except (ConnectionResetError, BrokenPipeError):
                    answer = b""
                self.assertNotIn(b" 200 ", answer)
                self.assertNotIn(b" 101 ", answer)
        self.assertEqual(self.session.get().status, 200)
        self.assertEqual(self.daemon.count(), 0)

    def test_other_sockets_and_protocols(self):
        self.refused(self.open(self.session, path="/").answer, 404, "no WebSocket")
        for protocols in (None, f"other, key.{self.session.key}"):
            web_socket = self.open(self.session, protocols=protocols)
            self.assertFalse(web_socket.is_open)
        self.assertEqual(self.daemon.count(), 0)

    def test_headers_of_every_answer(self):
        answers = [
            self.session.get(), self.session.get("/nothing"), request(self.address), self.session.get("/client/binder.js"),
            self.session.answer, self.session.get(headers=[("If-None-Match", self.session.get().headers["etag"])]),
        ]
        self.assertEqual([answer.status for answer in answers], [200, 404, 403, 200, 200, 304])
        for answer in answers:
            policy = answer.headers["content-security-policy"]
            self.assertIn("default-src 'none'", policy)
            self.assertIn("script-src 'self';", policy)
            self.assertIn("frame-ancestors 'none'", policy)
            self.assertIn("require-trusted-types-for 'script'", policy)
            self.assertNotIn("unsafe", policy)
            self.assertNotIn("http:", policy)
            self.assertEqual(answer.headers["x-content-type-options"], "nosniff")
            self.assertEqual(answer.headers["referrer-policy"], "no-referrer")
            self.assertEqual(answer.headers["x-frame-options"], "DENY")
            self.assertNotIn("access-control-allow-origin", answer.headers)
        self.assertEqual(self.session.answer.headers["cache-control"], "no-store")

    def test_a_changed_file_has_another_etag(self):
        pages = f"{self.place.directory}/pages"
        os.mkdir(pages)
        with open(f"{pages}/index.html", "w") as file:
            file.write("<!doctype html>one")
        self.place.kill(self.place.web)
        session = Session(self.place.start_web("--pages", pages))
        first = session.get()
        same = session.get(headers=[("If-None-Match", first.headers["etag"])])
        self.assertEqual((first.status, same.status, same.text), (200, 304, ""))
        with open(f"{pages}/index.html", "w") as file:
            file.write("<!doctype html>two!")
        other = session.get(headers=[("If-None-Match", first.headers["etag"])])
        self.assertEqual((other.status, other.text), (200, "<!doctype html>two!"))
        self.assertIn("must-revalidate", other.headers["cache-control"])

    def memory(self):
        with open(f"/proc/{self.place.web.pid}/statm") as file:
            return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Sockets(Case):
    """With a real daemon: what an admitted browser may send."""

    def setUp(self):
        super().setUp()
        self.place.start_daemon()
        self.session = Session(self.place.start_web())

    def test_lines_in_both_directions(self):
        web_socket = self.open(self.session)
        hello = web_socket.call("hello", {"client": {"name": "test"}, "limits": {"line": 1 << 20}})
        self.assertEqual(hello["result"]["peer"]["role"], "owner")
        long = "ü" * 30_000
        self.assertIn("result", web_socket.call("set", {"source": "cells/long", "value": long}))
        self.assertEqual(web_socket.call("get", {"source": "cells/long"})["result"]["value"], long)
        for i in range(200):
            web_socket.send({"id": i, "method": "ping"})
        self.assertEqual([web_socket.line()["id"] for _ in range(200)], list(range(200)))

    def test_a_message_in_fragments_is_one_line(self):
        web_socket = self.open(self.session)
        line = b'{"id":7,"method":"set","params":{"source":"cells/a","value":"\xc3\xbc"}}'
        for i, byte in enumerate(line):
            web_socket.send_frame(bytes([byte]), opcode=0 if i else 1, is_final=i == len(line) - 1)
        self.assertEqual(web_socket.line()["result"]["value"], "ü")

    def test_a_message_that_is_too_long(self):
        web_socket = self.open(self.session)
        web_socket.send('{"id":1,"method":"set","params":{"source":"cells/a","value":"' + "x" * (2 << 20) + '"}}')
        self.assertEqual(web_socket.line()["error"]["data"]["name"], "line_too_long")
        self.assertIn("result", web_socket.call("ping"))

    def test_frames_that_break_the_protocol(self):
        for name, send in (
            ("binary", lambda s: s.send_frame(b'{"id":1,"method":"ping"}', opcode=2)),
            ("a reserved opcode", lambda s: s.send_frame(b"x", opcode=3)),
            ("a long ping", lambda s: s.send_frame(b"x" * 200, opcode=9)),
            ("an extension", lambda s: s.socket.sendall(bytes([0xF1, 0x81]) + bytes(4) + b"x")),
            ("a continuation of nothing", lambda s: s.send_frame(b"x", opcode=0)),
        ):
            with self.subTest(name):
                web_socket = self.open(self.session)
                send(web_socket)
                with self.assertRaises((Closed, ConnectionError)):
                    while True:
                        web_socket.message()

        def are_closed():
            return self.place.call("stats")["usage"]["connections"] == 1

        eventually(are_closed, what="the connections to the daemon are closed")

    def test_a_frame_of_a_huge_length_costs_no_memory(self):
        def memory():
            """The KiB that were asked for, and those in use without the pages of files."""
            with open(f"/proc/{self.place.web.pid}/status") as file:
                figures = dict(line.split(":") for line in file)
            return [int(figures[name].split()[0]) for name in ("VmSize", "RssAnon")]

        self.assertEqual(self.session.get().status, 200)
        before = memory()
        sockets = [self.open(self.session) for _ in range(8)]
        for web_socket in sockets:
            web_socket.send_frame(b"x" * 1000, length=1 << 40)
        # The frames came before.
        self.assertEqual(self.session.get().status, 200)
        for grown, most in zip((now - then for now, then in zip(memory(), before)), (256 << 10, 8 << 10)):
            self.assertLess(grown, most)
        for web_socket in sockets:
            web_socket.close()
        self.assertEqual(self.session.get().status, 200)

    def test_a_browser_that_does_not_read(self):
        self.place.call("set", {"source": "cells/big", "value": "x" * 60_000})
        web_socket = self.open(self.session)
        web_socket.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        with open(f"/proc/{self.place.web.pid}/statm") as file:
            before = int(file.read().split()[1])
        web_socket.call("hello", {"limits": {"line": 1 << 20}})
        web_socket.socket.setblocking(False)
        sent = 0
        try:
            for i in range(3000):
                web_socket.send({"id": i, "method": "get", "params": {"source": "cells/big"}})
                sent += 1
        except BlockingIOError:
            pass
        time.sleep(1)
        with open(f"/proc/{self.place.web.pid}/statm") as file:
            self.assertLess((int(file.read().split()[1]) - before) * 4096, 1 << 20)
        self.assertIn("result", self.open(self.session).call("ping"))
        self.assertGreater(sent, 100)

    def test_html_in_values_stays_text(self):
        name = "<script>alert(1)</script>"
        answer = self.session.get("/%3Cscript%3Ealert(1)%3C/script%3E")
        self.assertNotIn(name, answer.text)
        answer = request(self.session.address, "/", host=f'"><script>alert(1)</script>')
        self.assertNotIn("<script>", answer.text)

    def test_without_a_daemon_the_socket_says_so(self):
        self.place.kill(self.place.daemon)
        with self.assertRaises(Closed) as context:
            self.open(self.session).message()
        self.assertEqual(context.exception.code, 4001)
        self.assertIn("binderd does not answer", context.exception.reason)
        self.place.start_daemon()
        self.assertIn("result", self.open(self.session).call("ping"))

    def test_the_end_of_the_daemon_is_the_end_of_the_socket(self):
        web_socket = self.open(self.session)
        web_socket.call("ping")
        self.place.daemon.terminate()
        self.assertEqual(web_socket.line()["params"]["reason"], "shutdown")
        with self.assertRaises(Closed) as context:
            web_socket.message()
        self.assertEqual(context.exception.code, 4001)

    def test_sessions_survive_a_kill(self):
        self.place.kill(self.place.web)
        self.place.start_web()
        self.assertIn("result", self.open(self.session).call("ping"))
        self.assertEqual(self.session.get().status, 200)


@unittest.skipUnless(os.getuid() == 0, "only root can become other users")
class Proxies(Case):
    """Behind a reverse proxy, which names the user."""

    def setUp(self):
        super().setUp()
        os.chmod(self.place.directory, 0o711)
        with open(f"{self.place.directory}/binder.conf", "w") as file:
            file.write("""{
              "socket_mode": "0666",
              "gateways": [{ "user": 4001, "names": { "kim@example.org": 4002, "lee": 4003 } }],
              "roles": [{ "name": "panel", "users": [4002], "methods": ["cells.set"], "read": ["cells/**"],
                          "write": ["cells/lamp"] }]
            }""")
        self.place.start_daemon("--config", f"{self.place.directory}/binder.conf")
        os.mkdir(f"{self.place.directory}/web")
        os.chown(f"{self.place.directory}/web", 4001, 4001)
        os.chmod(f"{self.place.directory}/web", 0o711)
        # The sources may be in a directory that other users cannot read.
        pages = f"{self.place.directory}/pages"
        subprocess.run(["cp", "-r", root / "Web", pages], check=True)
        subprocess.run(["cp", "-r", root / "Protocol/clients/javascript", f"{pages}/client"], check=True)
        program = f"{self.place.directory}/binder-web"
        subprocess.run(["cp", programs / "binder-web", program], check=True)
        self.path = f"{self.place.directory}/web/http.sock"
        self.place.web = self.place.start(
            "setpriv", "--reuid", "4001", "--regid", "4001", "--clear-groups", program, "--proxy-user", "0",
            "--name", "board.example", "--listen", self.path, "--pages", pages,
        )
        eventually(lambda: listens(self.path))

    def web_socket(self, user, **changes):
        options = {
            "host": "board.example", "origin": "https://board.example",
            "headers": [("X-Remote-User", user)] if user else [], **changes,
        }
        web_socket = WebSocket(self.path, **options)
        self.addCleanup(web_socket.close)
        return web_socket

    def get(self, path="/", headers=(), host="board.example"):
        lines = [f"GET {path} HTTP/1.1", f"Host: {host}", *[f"{name}: {value}" for name, value in headers]]
        from support import Answer
        return Answer(send_raw(self.path, ("\r\n".join(lines) + "\r\nConnection: close\r\n\r\n").encode()))

    def await_no_client(self):
        """Waits until the daemon has no other client than the one that asks; the one before may not have gone yet."""
        eventually(lambda: self.place.call("stats")["usage"]["connections"] == 1, what="the daemon has no client")

    def test_a_user_has_the_role_of_the_configuration(self):
        self.assertEqual(self.get(headers=[("X-Remote-User", "kim@example.org")]).status, 200)
        web_socket = self.web_socket("kim@example.org")
        peer = web_socket.call("hello")["result"]["peer"]
        self.assertEqual((peer["uid"], peer["role"]), (4002, "panel"))
        self.assertIn("result", web_socket.call("set", {"source": "cells/lamp", "value": 1}))
        refused = web_socket.call("set", {"source": "cells/door", "value": 1})
        self.assertEqual(refused["error"]["data"]["name"], "permission_denied")
        self.assertEqual(web_socket.call("act_as", {"name": "lee"})["error"]["data"]["name"], "method_not_found")

    def test_a_user_without_a_name_or_a_role_learns_why(self):
        for user, reason in (("eve", "no name 'eve'"), ("lee", "uid 4003 has no role"), ("KIM@example.org", "no name")):
            with self.assertRaises(Closed) as context:
                web_socket = self.web_socket(user)
                web_socket.send({"id": 1, "method": "set", "params": {"source": "cells/lamp", "value": user}})
                web_socket.message()
            self.assertEqual(context.exception.code, 4003)
            self.assertIn(reason, context.exception.reason)
        self.assertEqual(self.place.call("cells.list")["value"], {})

    def test_a_request_without_a_user_is_refused(self):
        for headers in ([], [("X-Remote-User", "")], [("X-Remote-User", "a b")], [("X-Other-User", "kim@example.org")]):
            answer = self.get(headers=headers)
            self.assertIn(answer.status, (400, 403), answer)
        self.assertEqual(self.web_socket(None).answer.status, 403)
        self.assertIn("has not named a user", self.get().text)
        self.await_no_client()

    def test_a_foreign_process_names_nobody(self):
        head = "GET / HTTP/1.1\r\nHost: board.example\r\nX-Remote-User: kim@example.org\r\nConnection: close\r\n\r\n"
        program = (
            "import socket, sys; s = socket.socket(socket.AF_UNIX); s.connect(sys.argv[1]);"
            "s.sendall(sys.argv[2].encode()); print(s.makefile('rb').read().decode())"
        )
        for uid in ("4001", "4002", "65534"):
            answer = subprocess.run(
                ["setpriv", "--reuid", uid, "--regid", uid, "--clear-groups", "/usr/bin/python3", "-c", program,
                 self.path, head],
                capture_output=True, text=True,
            ).stdout
            self.assertIn("403 Forbidden", answer)
            self.assertIn("may not name a user", answer)
        self.await_no_client()

    def test_host_and_origin_are_checked_behind_a_proxy_too(self):
        user = [("X-Remote-User", "kim@example.org")]
        self.assertEqual(self.get(headers=user, host="evil.example").status, 421)
        self.assertEqual(self.web_socket("kim@example.org", origin="https://evil.example").answer.status, 403)
        self.assertEqual(self.web_socket("kim@example.org", origin=None).answer.status, 403)
        self.await_no_client()

    def test_one_time_tokens_have_no_meaning(self):
        self.assertEqual(self.get("/?token=" + "0" * 32).status, 403)

    def test_wrong_options_do_not_start(self):
        for words, reason in (
            (["--proxy-user", "0"], "no --name"),
            (["--proxy-user", "nobody-has-this-name", "--name", "a"], "there is no user"),
            (["--proxy-user", "0", "--name", "a", "--port", "1"], "--port does not go with --proxy-user"),
            (["--proxy-user", "0", "--name", "a"], "no socket"),
            (["--listen", "/tmp/x"], "--listen needs --proxy-user"),
            (["--port", "70000"], "--port takes a number"),
            (["--nonsense"], "unknown option '--nonsense'"),
            (["--name"], "missing value"),
        ):
            result = subprocess.run(
                [programs / "binder-web", *words], env=self.place.environment, capture_output=True, text=True, timeout=60,
            )
            self.assertEqual(result.returncode, 64, result.stderr)
            self.assertIn(reason, result.stderr)


if __name__ == "__main__":
    unittest.main()
