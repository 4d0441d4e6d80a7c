"""kill -9 of the daemon and of binder-web while browsers work: nothing is lost and nothing doubled."""

import contextlib
import glob
import http.server
import json
import os
import signal
import threading
import time

from browser import Keys, PageCase
from support import Lines, Path, eventually


class BadGateway(http.server.BaseHTTPRequestHandler):
    """A proxy whose binder-web is away."""

    def do_GET(self):
        if "Upgrade" not in self.headers:
            self.server.asked.set()
        self.send_error(502)

    def log_message(self, *_):
        pass


class Kills(PageCase):
    def kill_daemon(self):
        self.place.kill(self.place.daemon)
        time.sleep(0.4)
        self.place.start_daemon()

    def kill_web(self):
        self.place.kill(self.place.web)
        time.sleep(0.4)
        self.place.start_web()

    def start_path(self):
        """Lets binder-web reach the daemon on a way that can be cut."""
        path = Path(f"{self.place.directory}/path.sock", self.place.socket)
        self.addCleanup(path.close)
        self.place.kill(self.place.web)
        self.printed = self.place.start_web("--socket", f"{self.place.directory}/path.sock")
        return path

    def enter(self, name):
        browser = self.open_browser(width=1000, height=800)
        browser.go("views/chat")
        field = browser.find(".composer [data-name=name]")
        field.send_keys(name, Keys.ENTER)
        browser.click("Enter lobby", within=".stage")
        browser.eventually(lambda: name in browser.find(".facts").text, what="the member")
        return browser

    @staticmethod
    def messages(browser):
        return browser.run("return [...document.querySelectorAll('.feed .text')].map(x => x.textContent)")

    def say(self, browser, text):
        field = browser.find(".composer textarea")
        field.send_keys(text, Keys.ENTER)

    def test_two_browsers_chat_through_kills(self):
        with Lines(self.place.socket) as lines:
            lines.call("users.log_in", {"name": "host"})
            lines.call("chat.create", {"name": "lobby"})
        ada, bob = self.enter("ada"), self.enter("bob")
        sent = []

        def say(browser, name):
            sent.append(f"{name} {len(sent)}")
            self.say(browser, sent[-1])

        def all_sent():
            return [self.messages(browser) for browser in (ada, bob)] == [sent, sent]

        for _ in range(3):
            say(ada, "ada")
            eventually(all_sent, what="the message of ada")
            say(bob, "bob")
            eventually(all_sent, what="the message of bob")

        # What is typed and not sent stays, also the place of the cursor.
        draft = bob.find(".composer textarea")
        draft.send_keys("half a thought")
        bob.press(Keys.ARROW_LEFT, Keys.ARROW_LEFT)
        for kill in (self.kill_daemon, self.kill_web, self.kill_daemon):
            killer = threading.Thread(target=kill)
            killer.start()
            # Sent while nobody listens, or before it is noticed.
            for _ in range(3):
                say(ada, "ada")
                time.sleep(0.15)
            ada.eventually(lambda: "Offline" in ada.text or "Coming back" in ada.text or all_sent(), what="it says so")
            killer.join()
            ada.await_online()
            bob.await_online()
            ada.eventually(all_sent, what=f"all messages after {kill.__name__}: {sent}")
        self.assertEqual(bob.find(".composer textarea").get_attribute("value"), "half a thought")
        self.assertEqual(bob.run("return [document.activeElement.dataset.name, document.activeElement.selectionStart]"), ["text", len("half a thought") - 2])
        bob.press(Keys.END, Keys.ENTER)
        sent.append("half a thought")
        ada.eventually(all_sent, what="the draft")
        with Lines(self.place.socket) as lines:
            history = lines.call("chat.history", {"room": "lobby"})["value"]
        self.assertEqual([message["text"] for message in history], sent)
        self.assertEqual({message["author"] for message in history}, {"ada", "bob"})

    def test_events_and_values_go_on_without_a_gap(self):
        browser = self.open_browser()
        browser.go("events")
        self.place.call("set", {"source": "cells/other", "value": 1})
        browser.has("cells/other")
        browser.type("Streams of events", "cells/n")
        browser.has("No event fits.")
        is_over = threading.Event()
        written = []

        def write():
            """Writes numbers; one that was not answered is sent again with the same key."""
            n = 0
            while not is_over.is_set():
                n += 1
                while True:
                    try:
                        with Lines(self.place.socket) as lines:
                            lines.call("cells.set", {"name": "n", "value": n, "_meta": {"cmd": f"n{n}"}})
                        break
                    except (OSError, json.JSONDecodeError):
                        time.sleep(0.05)
                written.append(n)
                time.sleep(0.01)

        writer = threading.Thread(target=write)
        writer.start()
        for kill in (self.kill_daemon, self.kill_web):
            time.sleep(0.6)
            kill()
            browser.eventually(lambda: browser.state == "online", what="the page is online again")
        browser.has("Online again. Nothing was missed.")
        time.sleep(0.5)
        is_over.set()
        writer.join()
        expected = [f'{{"value":{n}}}' for n in reversed(written)]
        shown = lambda: browser.run("return [...document.querySelectorAll('.log .data')].map(x => x.textContent)")
        eventually(lambda: shown() == expected, what=lambda: f"each event once: {len(expected)} of them, with {set(expected) - set(shown())}, and {len(shown())} shown")
        browser.go("sources/cells/n")
        browser.eventually(lambda: browser.find("output.big").text == str(written[-1]), what="the last value")

    def test_offline_is_said_and_a_command_is_kept(self):
        self.place.call("set", {"source": "cells/lamp", "value": False})
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        switch = browser.named("cells/lamp on or off")
        self.place.kill(self.place.daemon)
        browser.has("Offline since")
        browser.has("What you see may be old.")
        self.assertEqual(browser.find("#banner").aria_role, "alert")
        switch.click()
        time.sleep(0.3)
        self.place.start_daemon()
        eventually(lambda: self.place.call("get", {"source": "cells/lamp"})["value"] is True, what="the command is run")
        browser.await_online()
        self.assertEqual(self.place.call("history", {"source": "events"})["last"], 2)

    def test_a_session_that_was_withdrawn_is_refused_with_the_reason(self):
        browser = self.open_browser()
        self.place.kill(self.place.web)
        for path in glob.glob(f"{self.place.directory}/binder/*.sessions"):
            os.unlink(path)
        self.place.start_web()
        browser.has("Not admitted: This browser was not admitted")
        browser.has("Run ‘bindctl web’")

    def test_a_read_that_a_lost_connection_hits_is_sent_again(self):
        for value in (17, 18):
            self.place.call("set", {"source": "cells/lamp", "value": value})
        path = self.start_path()
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        for reads in 1, 2:
            path.cut_at('"method":"describe"', reads)
            browser.driver.refresh()
            browser.has("Changed")
            self.assertEqual(path.cuts, 0)
        path.cut_at('"method":"history"')
        browser.run("binder.moment.show({seq: 1})")
        browser.eventually(lambda: browser.find("output.big").text == "17", what="the value of that moment")
        self.assertEqual(path.cuts, 0)

    def test_a_proxy_without_binder_web_is_asked_again(self):
        browser = self.open_browser()
        self.place.kill(self.place.web)
        server = http.server.ThreadingHTTPServer(("127.0.0.1", self.place.port), BadGateway)
        server.asked = threading.Event()
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            self.assertTrue(server.asked.wait(60), "the page asks why")
            time.sleep(0.3)
            self.assertEqual(browser.state, "offline")
        finally:
            server.shutdown()
            server.server_close()
        self.place.start_web()
        browser.click("Try now")
        browser.await_online()

    def test_a_silent_path_is_given_up(self):
        self.place.call("set", {"source": "cells/lamp", "value": 1})
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        browser.has("Changed")
        values = iter(range(2, 9))

        def shows(value):
            browser.eventually(lambda: browser.find("output.big").text == str(value), what=f"the value {value}")

        def freeze(act):
            self.place.web.send_signal(signal.SIGSTOP)
            value = next(values)
            try:
                self.place.call("set", {"source": "cells/lamp", "value": value})
                # What was on its way before the stop is taken for an answer; then the page has to ask again.
                end = time.monotonic() + 60
                while "no answer comes" not in browser.text:
                    self.assertLess(time.monotonic(), end, "never: the page says that no answer comes")
                    act()
                    with contextlib.suppress(AssertionError):
                        browser.has("no answer comes", seconds=5)
            finally:
                self.place.web.send_signal(signal.SIGCONT)
            browser.await_online()
            shows(value)

        browser.run("Object.assign(binder.link, {periods: {silence: 60000, answer: 1000}})")
        for event in "window.dispatchEvent(new Event('offline'))", "document.dispatchEvent(new Event('visibilitychange'))":
            freeze(lambda: browser.run(event))
        # Without an event, after some silence, which begins with a message.
        browser.run("binder.link.periods.silence = 500")
        self.place.call("set", {"source": "cells/lamp", "value": 0})
        shows(0)
        freeze(lambda: None)

    def test_a_second_loss_keeps_the_way_to_a_view(self):
        with Lines(self.place.socket) as lines:
            lines.call("users.log_in", {"name": "host"})
            lines.call("chat.create", {"name": "lobby"})
        path = self.start_path()
        browser = self.enter("ada")
        self.say(browser, "one")
        browser.eventually(lambda: self.messages(browser) == ["one"], what="a message")
        shown = lambda: browser.run("return [...document.querySelectorAll('.stage .view')].map(view => view.dataset.binder)")
        before = shown()
        for method in "intent", "open":
            path.cut_at(f'"method":"{method}"')
            path.cut()
            browser.eventually(lambda: path.cuts == 0, what=f"the connection is lost at {method}")
            browser.await_online()
            browser.eventually(lambda: not browser.all(".stage.stale") and shown() == before, what=lambda: f"the views are there after {method}: {shown()}")
            self.assertNotIn("did not come back", browser.text)
        self.say(browser, "two")
        browser.eventually(lambda: self.messages(browser) == ["one", "two"], what="another message")

    def test_more_values_than_a_line_has_are_shown_and_followed(self):
        config = f"{self.place.directory}/binder.conf"
        with open(config, "w") as file:
            file.write('{"limits": {"line_out": 32768, "line_out_max": 32768}}')
        os.chmod(config, 0o600)
        self.place.kill(self.place.daemon)
        self.place.start_daemon("--config", config)
        with Lines(self.place.socket) as lines:
            lines.call("set", {"source": "cells/boards/wall", "value": {"title": "Hall", "tiles": [{"source": "cells/n"}]}})
            lines.call("set", {"source": "cells/n", "value": 0})
            lines.call("lists.append", {"name": "n", "value": 0})
            lines.call("maps.put", {"name": "n", "key": "0", "value": 0})
            for i in range(300):
                lines.call("people.create", {"name": f"Person {i}"})
            for i in range(30):
                lines.call("set", {"source": f"cells/bulk/{i}", "value": "y" * 2000})
                lines.call("lists.append", {"name": f"bulk/{i}", "value": "y" * 2000})
                lines.call("maps.put", {"name": f"bulk/{i}", "key": "y", "value": "y" * 2000})
        path = self.start_path()
        browser = self.open_browser()
        count = lambda: browser.run("""
            const names = [...binder.store.entries.keys()].map((name) => name.split('/')[0]);
            return ['cells', 'lists', 'maps', 'people'].map((service) => names.filter((name) => name === service).length)""")
        eventually(lambda: count() == [32, 31, 31, 900], what=lambda: f"all sources, not {count()}")
        browser.go("boards/wall")
        browser.has("Hall")
        for n in range(1, 41):
            with Lines(self.place.socket) as lines:
                lines.call("cells.add", {"name": "n"})
                lines.call("lists.append", {"name": "n", "value": n})
                lines.call("maps.put", {"name": "n", "key": str(n), "value": n})
                lines.call("people.rename", {"id": 1, "name": f"Ada {n}"})
            if n % 10 == 5:
                path.cut()
            time.sleep(0.02)
        # Each change once.
        shown = lambda: browser.run("""
            return ['cells/n', 'lists/n', 'maps/n', 'people/1', 'people/1/name'].map((name) => binder.store.entries.get(name)).map(({value, changes}) => [value, changes])""")
        numbers = list(range(41))
        person = self.place.call("get", {"source": "people/1"})["value"]
        expected = [[value, 40] for value in (40, numbers, {str(n): n for n in numbers}, person, "Ada 40")]
        eventually(lambda: shown() == expected, what=lambda: f"each change once: {shown()}")
        # What loses its last element, and what is removed, disappears.
        self.place.call("lists.remove", {"name": "bulk/0", "at": 0})
        self.place.call("cells.remove", {"name": "bulk/0"})
        eventually(lambda: count() == [31, 30, 31, 900], what=lambda: f"two sources fewer, not {count()}")
        # Another journal has other values.
        self.place.kill(self.place.daemon)
        for file in glob.glob(f"{self.place.directory}/journal.db*"):
            os.unlink(file)
        self.place.start_daemon("--config", config)
        self.place.call("set", {"source": "cells/n", "value": "new"})
        browser.eventually(lambda: browser.find(".tile .value, .empty").text != "40", what="the old values are gone")
        eventually(lambda: count() == [1, 0, 0, 0], what=lambda: f"the values of another journal: {count()}")
        self.place.call("set", {"source": "cells/n", "value": "newer"})
        eventually(lambda: browser.run("return binder.store.entries.get('cells/n').value") == "newer", what="its changes")
