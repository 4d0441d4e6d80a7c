#!/usr/bin/python3
"""Takes the pictures of the documentation from `Scripts/demo web`.

usage: Tests/web/screenshots.py [DIR]     (default Documentation)
"""

import base64
import os
import pathlib
import signal
import subprocess
import sys
import time

from browser import Browser, Keys
from support import root

target = pathlib.Path(sys.argv[1] if len(sys.argv) > 1 else root / "Documentation")


def take(browser, path, width, height, theme="light"):
    """Returns a picture of a part of the page."""
    browser.driver.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": [{"name": "prefers-color-scheme", "value": theme}]})
    browser.resize(width, height)
    browser.go(path)
    time.sleep(2)
    browser.run("document.activeElement.blur()")
    return browser.driver.get_screenshot_as_png()


def beside(browser, pictures, width, height):
    """Returns a picture with others side by side."""
    images = "".join(f"<img src='data:image/png;base64,{base64.b64encode(picture).decode()}'>" for picture in pictures)
    style = "body { margin: 0; padding: 24px; display: flex; gap: 24px; background: #cdd5e0 } img { border-radius: 10px }"
    page = f"<!doctype html><style>{style}</style>{images}"
    browser.driver.get("about:blank")
    browser.resize(width, height)
    browser.run("document.open(); document.write(arguments[0]); document.close()", page)
    time.sleep(0.5)
    return browser.driver.get_screenshot_as_png()


demo = subprocess.Popen([root / "Scripts/demo", "web"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
try:
    address = next(line.strip() for line in demo.stdout if line.startswith("http://"))
    browser = Browser(address)
    browser.go("views/chat")
    browser.find(".composer [name=name]").send_keys("kim", Keys.ENTER)
    browser.click("Enter lobby", within=".stage")
    browser.find(".composer textarea").send_keys("Tea at four?", Keys.ENTER)
    browser.has("Tea at four?")
    browser.find(".composer textarea").send_keys("Who brings the cake", Keys.ENTER)
    phone = take(browser, "views/chat", 360, 760)
    time.sleep(45)  # so that there is a past
    (target / "web-board.png").write_bytes(take(browser, "boards/house", 1600, 650, "dark"))
    source = take(browser, "sources/cells/house/kitchen/celsius", 1180, 760)
    (target / "web.png").write_bytes(beside(browser, [source, phone], 1180 + 360 + 72, 760 + 48))
finally:
    os.killpg(demo.pid, signal.SIGINT)
    demo.wait()
