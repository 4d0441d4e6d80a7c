"""kill -9 of the daemon and of binder-web while browsers work: nothing is lost and nothing doubled."""

import json
import threading
import time

from browser import Keys, PageCase
from support import Lines, eventually


class Kills(PageCase):
    def kill_daemon(self):
        self.place.kill(self.place.daemon)
        time.sleep(0.4)
        self.place.start_daemon()

    def kill_web(self):
        self.place.kill(self.place.web)
        time.sleep(0.4)
        self.place.start_web()

    def enter(self, name):
        browser = self.open_browser(width=1000, height=800)
        browser.go("views/chat")
        field = browser.find(".composer [name=name]")
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
            ada.eventually(all_sent, 20, what=f"all messages after {kill.__name__}: {sent}")
        self.assertEqual(bob.find(".composer textarea").get_attribute("value"), "half a thought")
        self.assertEqual(bob.run("return [document.activeElement.name, document.activeElement.selectionStart]"), ["text", len("half a thought") - 2])
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
        import glob, os
        for path in glob.glob(f"{self.place.directory}/binder/*.sessions"):
            os.unlink(path)
        self.place.start_web()
        browser.has("Not admitted: This browser was not admitted")
        browser.has("Run ‘bindctl web’")
