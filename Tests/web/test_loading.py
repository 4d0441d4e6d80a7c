"""What is slow says so until it is there."""

import signal

from feeds import FeedCase


class Loading(FeedCase):
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
                    browser.await_there("views", "Choose a view.")
                    self.place.daemon.send_signal(signal.SIGSTOP)
                    try:
                        browser.go(part)
                        if reloads:
                            browser.driver.refresh()
                        browser.await_busy(part)
                    finally:
                        self.place.daemon.send_signal(signal.SIGCONT)
                    browser.await_there(part, text)

    def test_the_past_is_read_when_it_is_wanted(self):
        for value in range(3):
            self.place.call("set", {"source": "cells/lamp", "value": value})
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        browser.await_there("the source", "Changed")
        shown = lambda: browser.run("return document.querySelector('output.big').textContent")
        self.place.daemon.send_signal(signal.SIGSTOP)
        try:
            browser.run("document.querySelectorAll('table.changes tbody tr')[1].querySelector('td:last-child button').click()")
            browser.await_busy("the past")
            browser.eventually(lambda: shown() == "Loading …", what="the value is loading")
        finally:
            self.place.daemon.send_signal(signal.SIGCONT)
        browser.await_there("the past", "ago")
        browser.eventually(lambda: shown() == "1", what="the value of then")

    def test_a_property_of_a_view_is_slow(self):
        self.gate.clear()
        self.place.call("feeds.subscribe", {"url": f"http://127.0.0.1:{self.server.server_address[1]}/feed", "id": "radio"})
        browser = self.open_browser()
        browser.go('views/feed/{"id":"radio"}')
        browser.await_busy("the feed")
        self.gate.set()
        browser.await_there("the feed", "First episode")
        # What is there already stays while it is loaded again.
        self.gate.clear()
        browser.click("Refresh", within=".stage")
        browser.await_busy("the feed")
        self.assertIn("First episode", browser.text)
        self.gate.set()
        browser.await_there("the feed", "First episode")
