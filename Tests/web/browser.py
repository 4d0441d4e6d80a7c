"""Headless Chromium for the tests of the page."""

import atexit
import os

from selenium import webdriver
from selenium.common.exceptions import StaleElementReferenceException, WebDriverException
from selenium.webdriver.chrome.options import Options
from selenium.webdriver.chrome.service import Service
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support import Case, eventually

__all__ = ["Browser", "By", "Keys", "PageCase"]


# What is on its way, as a screen reader has it, and what says so in words.
waiting = """
    const isSeen = (element) => element.checkVisibility();
    const busy = [...document.querySelectorAll('[aria-busy=true]')].filter(isSeen);
    const lines = [...document.querySelectorAll('[role=status]')].filter(isSeen).map((line) => line.textContent);
    return [busy.length, lines.filter((line) => /(Loading|Opening).* …$/.test(line))]"""


# Chromiums without a page: starting one takes seconds.
idle = []


def start_chromium():
    options = Options()
    options.binary_location = "/usr/bin/chromium"
    for word in (
        "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--hide-scrollbars", "--no-first-run",
        "--disable-background-networking", "--disable-component-update", "--disable-default-apps", "--disable-sync",
        "--disable-extensions", "--force-color-profile=srgb",
    ):
        options.add_argument(word)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    driver = webdriver.Chrome(service=Service("/usr/bin/chromedriver", log_output=os.devnull), options=options)
    driver.set_script_timeout(100)
    atexit.register(driver.quit)
    return driver


class Browser:
    """A Chromium with one page of binder-web."""

    def __init__(self, address, width=1280, height=900):
        self.driver = idle.pop() if idle else start_chromium()
        self.resize(width, height)
        self.address = address
        self.host = address.partition("/?")[0]
        self.driver.get(address)
        self.await_online()

    def close(self):
        """Leaves the Chromium to the next test, without anything of this one."""
        command = self.driver.execute_cdp_cmd
        command("Storage.clearDataForOrigin", {"origin": self.host, "storageTypes": "all"})
        command("Network.clearBrowserCookies", {})
        self.driver.get("about:blank")
        self.log()
        idle.append(self.driver)

    def resize(self, width, height):
        """Gives the page a size in CSS pixels."""
        metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
        self.driver.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)

    def await_online(self):
        self.eventually(lambda: self.state == "online", what="the page is online")

    @property
    def state(self):
        return self.run("return window.binder?.link?.state")

    def run(self, script, *values):
        return self.driver.execute_script(script, *values)

    def eventually(self, condition, seconds=60, what="the condition"):
        def attempt():
            try:
                return condition()
            except (StaleElementReferenceException, IndexError, AttributeError):
                return None
            except WebDriverException as error:
                # A dialog may be above it until its answer has come.
                if any(text in str(error) for text in ("no such element", "not interactable", "click intercepted")):
                    return None
                raise

        try:
            return eventually(attempt, seconds, what)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{self.text[:1500]}\n{self.log()}") from None

    def go(self, path):
        """Goes to a part of the page, such as sources/cells/lamp."""
        self.run("location.hash = arguments[0]", f"#/{path}")

    def await_busy(self, place):
        """Waits until the page says in both ways that something is on its way."""
        self.eventually(lambda: all(self.run(waiting)), what=lambda: f"{place} is busy: {self.run(waiting)}")

    def await_there(self, place, text=None):
        """Waits until the page shows a part, with everything that was on its way."""
        is_there = lambda: self.run("return document.querySelector('main').innerText.length > 3") and self.run(waiting) == [0, []]
        self.eventually(is_there, what=lambda: f"{place} is there: {self.run(waiting)}")
        if text is not None:
            self.has(text)

    @property
    def text(self):
        return self.run("return document.body.innerText")

    def has(self, text, seconds=60):
        """Waits until the page shows a text."""
        return self.eventually(lambda: text in self.text, seconds, f"the page shows {text!r}")

    def all(self, selector):
        return self.driver.find_elements(By.CSS_SELECTOR, selector)

    def find(self, selector, seconds=60):
        return self.eventually(lambda: next(iter(self.all(selector)), None), seconds, f"there is {selector}")

    def named(self, name, role=None, within=""):
        """Returns the control with a name, as a screen reader has it."""
        def find():
            for element in self.all(f"{within} :is(button, a, input, textarea, select, [role])"):
                if element.accessible_name == name and (role is None or element.aria_role == role) and element.is_displayed():
                    return element
            return None

        return self.eventually(find, what=f"there is a control {name!r}")

    def click(self, name, **options):
        self.eventually(lambda: self.named(name, **options).click() or True, what=f"{name!r} can be clicked")

    def type(self, name, text, **options):
        field = self.named(name, **options)
        field.clear()
        field.send_keys(text)
        return field

    def press(self, *keys):
        webdriver.ActionChains(self.driver).send_keys(*keys).perform()

    def chord(self, modifier, key):
        webdriver.ActionChains(self.driver).key_down(modifier).send_keys(key).key_up(modifier).perform()

    @property
    def focused(self):
        return self.driver.switch_to.active_element

    def log(self):
        """Returns the messages of the console that are worse than a warning."""
        return [entry["message"] for entry in self.driver.get_log("browser") if entry["level"] == "SEVERE"]


# The roles of elements that people use, or that a screen reader names.
named_roles = {
    "button", "checkbox", "combobox", "dialog", "img", "link", "listbox", "log", "menuitem", "option", "radio", "searchbox",
    "slider", "spinbutton", "switch", "tab", "tablist", "textbox", "tree", "treeitem",
}


class PageCase(Case):
    """A test with a daemon, binder-web and browsers."""

    def setUp(self):
        super().setUp()
        self.place.start_daemon()
        self.printed = self.place.start_web()

    def open_browser(self, **options):
        address, self.printed = self.printed, None
        browser = Browser(address or self.place.another_address(), **options)
        self.addCleanup(browser.close)
        return browser

    def check_names(self, browser, place):
        """Checks that each control has a role and a name in the accessibility tree of the browser."""
        nodes = [node for node in browser.driver.execute_cdp_cmd("Accessibility.getFullAXTree", {})["nodes"] if not node.get("ignored")]
        role = lambda node: node.get("role", {}).get("value")
        controls = [node for node in nodes if role(node) in named_roles]
        self.assertGreater(len(controls), 0, place)
        for node in controls:
            self.assertTrue(node.get("name", {}).get("value"), f"{place}: a {role(node)} without a name: {node}")
        for node in nodes:
            if any(item["name"] == "focusable" and item["value"].get("value") for item in node.get("properties", [])):
                self.assertNotIn(role(node), ("generic", "none", "StaticText"), f"{place}: {node}")
        return {role(node) for node in nodes}
