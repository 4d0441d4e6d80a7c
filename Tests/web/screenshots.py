#!/usr/bin/python3
"""Takes the pictures of the documentation: of the page of `Scripts/demo web`, and of the views and services of the documents.

usage: Tests/web/screenshots.py [DIR]     (default Documentation)
"""

import base64
import html
import os
import pathlib
import re
import signal
import subprocess
import sys
import time

from browser import Browser, Keys
from support import Place, eventually, programs, root

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


def shown(browser, text, width, height):
    """Returns a picture of a terminal's text, with its bold, dim and reversed parts."""
    names = {"1": "bold", "2": "dim", "7": "reverse"}
    parts, classes = [], set()
    for index, piece in enumerate(re.split(r"\x1b\[([\d;]*)m", text)):
        if index % 2 == 0:
            parts.append(f"<span class='{' '.join(sorted(classes))}'>{html.escape(piece)}</span>")
            continue
        for code in piece.split(";"):
            if code in ("", "0"):
                classes = set()
            elif code in names:
                classes.add(names[code])
    style = (
        "body { margin: 0; background: #1e2430; color: #e4e8ef } pre { margin: 20px; font: 15px/1.45 'DejaVu Sans Mono', monospace }"
        ".bold { font-weight: bold } .dim { opacity: 0.6 } .reverse { background: #e4e8ef; color: #1e2430 }"
    )
    browser.driver.get("about:blank")
    browser.resize(width, height)
    page = f"<!doctype html><meta charset=utf-8><style>{style}</style><pre>{''.join(parts)}</pre>"
    browser.run("document.open(); document.write(arguments[0]); document.close()", page)
    time.sleep(0.5)
    return browser.driver.get_screenshot_as_png()


def terminal(place, command, expected, columns=64, lines=18):
    """Returns what a command shows in a terminal once it shows the expected text."""
    tmux = ["tmux", "-S", f"{place.directory}/tmux-{len(command)}", "-f", "/dev/null"]
    started = [*tmux, "new-session", "-d", "-x", str(columns), "-y", str(lines), command]
    subprocess.run(started, env={**place.environment, "PATH": f"{programs}:{os.environ['PATH']}"}, check=True)
    try:
        def capture():
            text = subprocess.run([*tmux, "capture-pane", "-e", "-p"], capture_output=True, text=True, check=True).stdout
            return text if expected in text else None

        return eventually(capture, what=f"{expected!r} in the terminal")
    finally:
        subprocess.run([*tmux, "kill-server"], check=False)


def lines_after(document, mark, fence="```"):
    """Returns the block of a document that begins with a line."""
    text = (root / document).read_text()
    start = text.index(mark)
    return text[start : text.index(fence, start)]


def of_files():
    """Takes the pictures of the views and the service of the documents."""
    place = Place()
    try:
        thermostat = f"{place.directory}/view.d/thermostat.view"
        for folder, name, text in [
            ("view.d", "thermostat.view", lines_after("README.md", 'view "The heating of the house."')),
            ("service.d", "rooms.service", lines_after("Documentation/services-in-a-file.md", "-- rooms.service")),
        ]:
            os.mkdir(f"{place.directory}/{folder}")
            pathlib.Path(f"{place.directory}/{folder}/{name}").write_text(text)
        configuration = pathlib.Path(f"{place.directory}/binder.conf")
        configuration.write_text("{}")
        place.start_daemon("--config", configuration)
        for name, value in [("kitchen/temperature", 20.43), ("kitchen/wanted", 21), ("heater", True), ("away", False)]:
            place.call("cells.set", {"name": name, "value": value})
        for room, start, end in [("blue", "09:00", "10:00"), ("blue", "10:00", "11:30"), ("green", "09:30", "10:00")]:
            place.call("rooms.book", {"room": room, "from": start, "to": end})
        browser = Browser(place.start_web())

        parts = []

        def look(name, view, expected, height):
            text = terminal(place, f"bindctl open {view}", expected, lines=height // 24)
            parts.append((name, take(browser, f"views/{view}", 620, height), text, height))

        look("thermostat", "thermostat", "yes", 440)
        look("rooms", "rooms", "11:30", 640)
        # The same view with a title and one value more.
        pathlib.Path(thermostat).write_text(lines_after("Documentation/views-in-a-file.md", "# thermostat.view"))
        place.call("reload")
        look("kitchen", "thermostat", "away", 440)
        for name, page, text, height in parts:
            pictures = [shown(browser, text, 620, height), page]
            (target / f"{name}.png").write_bytes(beside(browser, pictures, 2 * 620 + 72, height + 48))
        browser.close()
    finally:
        place.close()


def of_demo():
    """Takes the pictures of the page that Scripts/demo shows."""
    demo = subprocess.Popen([root / "Scripts/demo", "web"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, start_new_session=True)
    try:
        address = next(line.strip() for line in demo.stdout if line.startswith("http://"))
        browser = Browser(address)
        browser.go("views/chat")
        browser.find(".composer [data-name=name]").send_keys("kim", Keys.ENTER)
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


of_files()
of_demo()
