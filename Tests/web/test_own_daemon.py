"""The page with a daemon of Scripts/new-daemon. own-daemon.bats builds it, and says in OWN_DAEMON where it is."""

import os
import pathlib

from browser import PageCase
from support import Case, eventually


class OwnDaemon(PageCase):
    def setUp(self):
        Case.setUp(self)
        program = pathlib.Path(os.environ["OWN_DAEMON"])
        # The service of roomsd is rooms.
        self.service = program.name.removesuffix("d")
        self.place.start_daemon("--config", "/dev/null", program=program)
        self.printed = self.place.start_web()

    def test_its_view_is_shown_and_used(self):
        browser, service = self.open_browser(), self.service
        browser.go(f"views/{service}")
        browser.eventually(lambda: browser.all(".stage > .view"), what="the view")
        self.check_names(browser, "the view of the program")
        browser.type("Title", "milk", within=".stage")
        browser.click("Add", within=".stage")
        browser.has("milk")
        eventually(lambda: self.place.call("get", {"source": f"{service}/1"})["value"] == "milk")
        # What another client does comes by itself, here and there.
        self.place.call(f"{service}.add", {"title": "tea"})
        browser.has("tea")
        browser.click("Finish milk", within=".stage")
        browser.eventually(lambda: "milk" not in browser.text, what="it is finished")
        # The page shows methods and sources of the program as those of any daemon.
        browser.go(f"services/{service}/add")
        browser.has("What is to be done.")
        browser.go(f"sources/{service}/2")
        browser.has("tea")
        self.assertEqual(browser.log(), [])
