"""What is slow says so until it is there."""

import signal

from feeds import FeedCase

# What is on its way, as a screen reader has it, and what says so in words.
waiting = """
    const isSeen = (element) => element.checkVisibility();
    const busy = [...document.querySelectorAll('[aria-busy=true]')].filter(isSeen);
    const lines = [...document.querySelectorAll('[role=status]')].filter(isSeen).map((line) => line.textContent);
    return [busy.length, lines.filter((line) => /(Loading|Opening).* …$/.test(line))]"""


class Loading(FeedCase):
    def await_busy(self, browser, place):
        """Waits until the page says in both ways that something is on its way."""
        browser.eventually(lambda: all(browser.run(waiting)), what=lambda: f"{place} is busy: {browser.run(waiting)}")

    def await_there(self, browser, place, text):
        browser.eventually(lambda: browser.run(waiting) == [0, []], what=lambda: f"{place} is there: {browser.run(waiting)}")
        browser.has(text)

    def test_a_page_waits_for_its_daemon(self):
        self.place.call("set", {"source": "cells/lamp", "value": 17})
        self.place.call("set", {"source": "cells/boards/b", "value": {"title": "Hall", "tiles": [{"source": "cells/lamp"}]}})
        self.place.call("people.create", {"name": "Ada"})
        browser = self.open_browser()
        browser.has("17")
        # With a new page, nothing is there. With an old one, only what it has not asked for yet.
        parts = {
            "sources": ("17", True), "boards": ("Hall", True), "boards/b": ("17", True), "services/cells/set": ("Call set", False),
            "events": ("cells.set", False), "sources/cells/lamp": ("Changed", False), "views/people": ("Ada", False),
        }
        for part, (text, isNew) in parts.items():
            for reloads in (True, False) if not isNew else (True,):
                with self.subTest(part, reloads=reloads):
                    browser.go("views")
                    self.await_there(browser, "views", "Choose a view.")
                    self.place.daemon.send_signal(signal.SIGSTOP)
                    try:
                        browser.go(part)
                        if reloads:
                            browser.driver.refresh()
                        self.await_busy(browser, part)
                    finally:
                        self.place.daemon.send_signal(signal.SIGCONT)
                    self.await_there(browser, part, text)

    def test_the_past_is_read_when_it_is_wanted(self):
        for value in range(3):
            self.place.call("set", {"source": "cells/lamp", "value": value})
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        self.await_there(browser, "the source", "Changed")
        self.place.daemon.send_signal(signal.SIGSTOP)
        try:
            browser.run("document.querySelectorAll('table.changes tbody tr')[1].querySelector('td:last-child button').click()")
            self.await_busy(browser, "the past")
            self.assertEqual(browser.run("return document.querySelector('output.big').textContent"), "Loading …")
        finally:
            self.place.daemon.send_signal(signal.SIGCONT)
        self.await_there(browser, "the past", "ago")
        self.assertEqual(browser.run("return document.querySelector('output.big').textContent"), "1")

    def test_a_property_of_a_view_is_slow(self):
        self.gate.clear()
        self.place.call("feeds.subscribe", {"url": f"http://127.0.0.1:{self.server.server_address[1]}/feed", "id": "radio"})
        browser = self.open_browser()
        browser.go('views/feed/{"id":"radio"}')
        self.await_busy(browser, "the feed")
        self.gate.set()
        self.await_there(browser, "the feed", "First episode")
        # What is there already stays while it is loaded again.
        self.gate.clear()
        browser.click("Refresh", within=".stage")
        self.await_busy(browser, "the feed")
        self.assertIn("First episode", browser.text)
        self.gate.set()
        self.await_there(browser, "the feed", "First episode")
