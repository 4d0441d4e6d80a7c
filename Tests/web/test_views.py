"""Every view of the daemon, opened in the page, and every intent used."""

import json
import os
import re
import time

from browser import Keys
from feeds import FeedCase
from support import Lines, eventually

# Counts which intents there are in the views that were opened, and which were used.
watch_intents = """
    window.intents = {};
    const of = (view) => intents[view] ??= {all: new Set(), used: new Set()};
    const binders = new Map();
    const opened = ({view, binder, intents}) => {
        binders.set(view, binder);
        of(binder);
        for (const name of Object.keys(intents)) of(binder).all.add(name);
    };
    const link = binder.link;
    const call = link.call;
    link.call = function (method, params, options = {}) {
        if (method === 'open') {
            const take = options.take;
            options = {...options, take: (answer) => { opened(answer); take?.(answer); }};
        }
        if (method === 'intent') {
            return call.call(this, method, params, options).then((answer) => {
                of(binders.get(params.view)).used.add(params.name);
                return answer;
            });
        }
        return call.call(this, method, params, options);
    };
    link.addViews({take: (method, params) => method === 'opened' && opened(params), reopen: () => {}});
"""


class Views(FeedCase):
    def setUp(self):
        super().setUp()
        self.friend = Lines(self.place.socket)
        self.addCleanup(self.friend.__exit__)
        self.friend.call("users.log_in", {"name": "grace"})

    def test_every_view_is_opened_and_every_intent_used(self):
        browser = self.browser = self.open_browser()
        browser.eventually(lambda: browser.run("return binder.store.views.length > 0"), what="the catalogue")
        browser.run(watch_intents)
        self.cell()
        self.people()
        self.threads()
        self.todo()
        self.search()
        self.system()
        self.feeds()
        self.chat()
        self.profile()
        found = lambda: browser.run("return Object.entries(intents).map(([view, {all, used}]) => [view, [...all], [...used]])")
        unused = lambda: {view: sorted(set(every) - set(used)) for view, every, used in found() if set(every) - set(used)}
        # An intent is used when its answer has come.
        browser.eventually(lambda: not unused(), what=lambda: f"all intents are used: {unused()}")
        views = set(self.place.call("describe")["views"][i]["name"] for i in range(len(self.place.call("describe")["views"])))
        self.assertEqual(views - {view for view, *_ in found()}, set(), "views that were not opened")
        self.assertEqual([line for line in browser.log() if "favicon" not in line], [])

    def test_a_view_in_a_file_shows_units_and_is_edited_in_place(self):
        directory = os.path.join(os.path.dirname(self.place.socket), "view.d")
        os.mkdir(directory)
        path = os.path.join(directory, "panel.view")

        def write(title):
            with open(path, "w") as file:
                file.write(
                    'view "A panel."\n'
                    f'title = "{title}"\n'
                    'cells/t ~> warmth as "°C"\ncells/wanted <> wanted as number\ncells/away <> away\n'
                    'lists/l ~> items\nadd -> lists.append name="l" value=?text\n'
                    'level -> cells.set name="level" value=?"low"|"high"\n'
                    'drop -> lists.remove name="l" at=row.id destructive when warmth\n'
                )

        write("Kitchen")
        self.place.call("reload")
        for name, value in [("t", 20.5), ("wanted", 21), ("away", False), ("level", "none")]:
            self.place.call("cells.set", {"name": name, "value": value})
        self.place.call("lists.append", {"name": "l", "value": "milk"})
        self.place.call("types.set", {"pattern": "cells/wanted", "type": 'number, "°C", "The wanted warmth"'})
        self.place.call("types.set", {"pattern": "lists/l", "type": 'string, "Things to buy"'})
        browser = self.browser = self.open_browser()
        self.open("panel")
        browser.has("20.5 °C")
        browser.eventually(lambda: browser.find(".rows h3").text == "Things to buy 1", what="the title of the type")
        cell = lambda name: self.place.call("get", {"source": "cells/" + name})["value"]
        self.act("Change Wanted")
        browser.eventually(lambda: browser.find(".fact label").text == "The wanted warmth", what="the title of the type at the field")
        self.send("Set", value="19")
        eventually(lambda: cell("wanted") == 19)
        browser.find(".fact [role=switch]").click()
        eventually(lambda: cell("away") is True)
        self.act("Level")
        choice = browser.find(".stage select[data-name=value]")
        self.assertEqual([option.text for option in choice.find_elements("tag name", "option")], ["choose", "low", "high"])
        browser.run("arguments[0].value = 'high'; arguments[0].dispatchEvent(new Event('input')); arguments[0].form.requestSubmit()", choice)
        eventually(lambda: cell("level") == "high")
        self.send("Add", value="tea")
        browser.has("tea")
        self.act("Drop milk")
        self.confirm("Drop")
        browser.eventually(lambda: "milk" not in browser.text, what="the row is gone")
        # The file changes: the page opens the view again.
        write("Cellar")
        self.place.call("reload")
        browser.has("Cellar")

    def test_a_view_with_two_lists_and_two_tabs(self):
        directory = os.path.join(os.path.dirname(self.place.socket), "view.d")
        os.mkdir(directory)
        with open(os.path.join(directory, "shop.view"), "w") as file:
            file.write(
                'view "A shop."\ntitle = "Corner shop"\n'
                'lists/shop ~> shop\n  value ~> thing\n'
                'maps/m ~> seats by key\n  key ~> seat\n  note\n  state\n  since as time\n  until as time\n  free as yesno\n  by\n'
                'add -> lists.append name="shop" value=?text main\n'
                'rename -> lists.update name="shop" at=shop.id value=?text\n'
                'cancel -> maps.remove name="m" key=seats.id destructive\n'
                'free_up -> maps.remove name="m" key=seats.id when seats.note\n'
                'find -> cells.list prefix="t"\n'
                'tab "All things" => todo\ntab "Again" => todo\n'
            )
        self.place.call("reload")
        for name in ["bread", "milk"]:
            self.place.call("lists.append", {"name": "shop", "value": name})
        seat = {"state": "reserved", "since": "2026-11-26T16:56:56Z", "until": "2026-11-26T17:56:56Z", "free": True, "by": "kim"}
        self.place.call("maps.put", {"name": "m", "key": "window", "value": seat})
        self.place.call("cells.set", {"name": "t1", "value": 5})
        self.place.call("todo.add", {"title": "sweep"})
        browser = self.browser = self.open_browser(width=1100)
        self.open("shop")
        browser.has("window")
        self.assertEqual(browser.text.count("Corner shop"), 1, "the title stands above the view only")
        # Each intent stands beside the rows of its list.
        buttons = lambda: browser.run("return [...document.querySelectorAll('.stage > .view > .lists .rows')].map(rows => [...new Set([...rows.querySelectorAll('.acts button')].map(x => x.textContent))])")
        browser.eventually(lambda: buttons() == [["Rename"], ["Cancel"]], what=lambda: f"the buttons of each list, not {buttons()}")
        # No word is broken, and what is not there has a sign.
        cells = browser.run("""
            return [...document.querySelectorAll('.stage > .view > .lists td:not(.acts)')].map(cell => {
                const range = document.createRange();
                range.selectNodeContents(cell);
                return [cell.textContent, cell.textContent.includes(' ') ? 1 : range.getClientRects().length];
            })""")
        self.assertIn(["–", 1], cells)
        self.assertEqual([text for text, lines in cells if lines != 1 or text == "null"], [])
        self.assertLessEqual(browser.run("return Math.max(...[...document.querySelectorAll('.acts button')].map(x => x.getBoundingClientRect().right))"), 1100)
        # The form has what the row shows, and no text is not sent.
        self.act("Rename bread")
        field = browser.find("dialog [data-name=value]")
        self.assertEqual(field.get_attribute("value"), "bread")
        self.send("Rename", "dialog", value="")
        browser.has("This needs a value.")
        browser.press(Keys.ESCAPE)
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        # Sent once more, the text of a row is removed.
        self.act("Rename milk")
        self.send("Rename", "dialog", value="")
        browser.has("Sent once more, the text is removed.")
        browser.click("Rename", within="dialog")
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        browser.eventually(lambda: self.place.call("get", {"source": "lists/shop"})["value"] == ["bread", ""], what="the text is empty")
        self.place.call("lists.update", {"name": "shop", "at": 1, "value": "milk"})
        browser.has("milk")
        self.fill(".composer", value="").send_keys(Keys.ENTER)
        browser.has("This needs a value.")
        self.assertEqual(self.place.call("get", {"source": "lists/shop"})["value"], ["bread", "milk"])
        # The question names the row, and only one button has the name of the intent.
        self.act("Cancel window")
        browser.has("Cancel ‘window’?")
        self.assertEqual([x.text for x in browser.all("dialog .body button")], ["No", "Cancel"])
        browser.click("No", within="dialog")
        self.act("Find")
        browser.eventually(lambda: browser.run("return document.querySelector('.answer').innerText.replace(/\\s+/g, ' ')") == "Find T1 5", what="the answer")
        self.act("Cancel window")
        self.confirm("Cancel")
        browser.eventually(lambda: "window" not in browser.text, what="the row is gone")
        self.assertEqual(browser.run("return document.querySelector('.answer').innerText"), "", "the next act")
        tabs = browser.all("[role=tab]")
        self.assertEqual([tab.text for tab in tabs], ["All things", "Again"])
        tabs[1].click()
        browser.eventually(lambda: [tab.get_attribute("aria-selected") for tab in browser.all("[role=tab]")] == ["false", "true"], what="the other tab")
        browser.has("sweep")

    def test_views_that_lead_to_each_other_times_and_what_is_hidden(self):
        directory = os.path.join(os.path.dirname(self.place.socket), "view.d")
        os.mkdir(directory)
        texts = {
            "rooms": 'view "Rooms."\nmaps/rooms ~> rooms by name\n  name\n'
            'cells/open ~> open hidden\ncells/alarm ~> alarm quiet\n'
            'choose => booking room=row.id push main\n'
            'add -> maps.put name="rooms" key=?text value={"name":"new"} when open\n'
            'constructor -> lamp.dim children=? append=? reset=? key=?\n',
            "booking": 'view "One room." (room: text)\ntitle = "Room {room}"\n'
            'cells/from/{room} ~> begins as time\ncells/day/{room} ~> day as date\ncells/at/{room} ~> at as clock\n'
            'begin -> cells.set name="from/{room}" value=?time main\n'
            'choose_day -> cells.set name="day/{room}" value=?date\n'
            'choose_time -> cells.set name="at/{room}" value=?clock\n',
        }
        for name, text in texts.items():
            with open(os.path.join(directory, name + ".view"), "w") as file:
                file.write(text)
        provider = Lines(self.place.socket)
        self.addCleanup(provider.__exit__)
        words = ["append", "children", "key", "reset"]
        schema = {"type": "object", "properties": {word: {"type": "string"} for word in words}}
        provider.call("provide", {"service": "lamp", "methods": {"dim": {"params": schema}}})
        self.place.call("reload")
        for key in ["blue", "green"]:
            self.place.call("maps.put", {"name": "rooms", "key": key, "value": {"name": key.title() + " room"}})
        for name, value in [("open", True), ("alarm", ""), ("from/green", "2026-12-01T09:00:00Z")]:
            self.place.call("cells.set", {"name": name, "value": value})
        # Some of them have no value before the page sets one.
        cell = lambda name: self.place.call("get", {"source": "cells/**"})["values"].get("cells/" + name)
        browser = self.browser = self.open_browser()
        self.open("rooms")
        browser.has("Green room")
        # What is hidden decides only what is offered; what is quiet is there when it says something.
        browser.has("Add")
        self.assertNotIn("Open", browser.find(".stage").text)
        self.assertNotIn("Alarm", browser.find(".stage").text)
        self.place.call("cells.set", {"name": "alarm", "value": "smoke"})
        browser.has("smoke")
        self.place.call("cells.set", {"name": "open", "value": False})
        browser.eventually(lambda: "Add" not in browser.find(".stage").text, what="the intent is offered no more")
        # Names of the page's own parts are only names.
        self.act("Constructor")
        for word in words:
            field = browser.find(f".stage [data-name={word}]")
            browser.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input'))", field, word)
        self.place.call("cells.set", {"name": "alarm", "value": "fire"})
        browser.has("fire")
        browser.run("arguments[0].closest('form').requestSubmit()", field)
        self.assertEqual(json.loads(provider.file.readline())["params"]["params"], {word: word for word in words})
        # A row leads to another view, with its argument.
        self.act("Choose Green room")
        browser.has("Room green")
        fields = {"Begin": ("datetime-local", "2026-12-24T18:30"), "Choose day": ("date", "2026-12-31"), "Choose time": ("time", "07:15")}
        for label, (kind, value) in fields.items():
            if label != "Begin":
                self.act(label)
            field = browser.eventually(lambda: browser.find(f".stage input[type={kind}]"), what=f"a field for {kind}")
            browser.run("arguments[0].value = arguments[1]; arguments[0].dispatchEvent(new Event('input')); arguments[0].form.requestSubmit()", field, value)
            name = {"Begin": "from/green", "Choose day": "day/green", "Choose time": "at/green"}[label]
            eventually(lambda: cell(name) not in (None, "2026-12-01T09:00:00Z"), what=label)
        zone = browser.run("return new Date('2026-12-24T18:30').toISOString()")
        self.assertEqual(time.strptime(cell("from/green")[:19], "%Y-%m-%dT%H:%M:%S"), time.strptime(zone[:19], "%Y-%m-%dT%H:%M:%S"), "the zone of who looks")
        self.assertEqual((cell("day/green"), cell("at/green")), ("2026-12-31", "07:15"))
        self.assertEqual(list(self.place.call("get", {"source": "cells/from/*"})["values"]), ["cells/from/green"])

    def test_a_service_without_a_view_has_one(self):
        provider = Lines(self.place.socket)
        self.addCleanup(provider.__exit__)
        provider.call("provide", {"service": "lamp", "sources": {"*": "The level of a lamp."}, "methods": {"dim": {"params": {"type": "object", "properties": {"level": {"type": "integer"}}, "required": ["level"]}}}})
        provider.call("publish", {"source": "lamp/kitchen", "value": 5, "keep": True})
        browser = self.browser = self.open_browser()
        self.open("lamp")
        browser.has("kitchen")
        browser.has("5")
        browser.eventually(lambda: browser.find(".rows h3").text == "Lamp 1", what="the title with the number of rows")
        self.act("Dim")
        field = browser.find(".stage input[data-name=level], dialog input[data-name=level]")
        browser.run("arguments[0].value = '40'; arguments[0].dispatchEvent(new Event('input')); arguments[0].form.requestSubmit()", field)
        call = json.loads(provider.file.readline())["params"]
        self.assertEqual((call["method"], call["params"]), ("lamp.dim", {"level": 40}))
        provider.call("reply", {"call": call["call"], "value": None})
        provider.call("publish", {"source": "lamp/kitchen", "value": 40, "keep": True})
        browser.has("40")

    def test_what_was_sent_is_typed_no_more(self):
        browser = self.browser = self.open_browser()
        self.place.call("todo.add", {"title": "milk"})
        self.open("todo")
        self.act("Rename milk")
        self.send("Rename", "dialog", title="cream")
        self.browser.has("cream")
        self.place.call("todo.rename", {"id": 1, "title": "butter"})
        self.browser.has("butter")
        title = lambda: browser.find("dialog [data-name=title]").get_attribute("value")
        self.act("Rename butter")
        self.assertEqual(title(), "butter")
        # What was typed and not sent stays.
        self.fill("dialog", title="cheese")
        browser.press(Keys.ESCAPE)
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        self.act("Rename butter")
        self.assertEqual(title(), "cheese")

    # Each control of a view is found by its name, as a screen reader has it.

    def act(self, name, within=".stage"):
        self.browser.click(name, within=within)

    def confirm(self, name):
        self.browser.has("The past keeps what was.")
        self.check_names(self.browser, f"the question before {name!r}")
        self.browser.click(name, within="dialog")

    def fill(self, within=".stage", /, **values):
        for name, text in values.items():
            field = self.browser.eventually(lambda: next((field for field in self.browser.all(f"{within} [data-name={name}]") if field.is_displayed()), None), what=f"a field {name}")
            self.browser.run("arguments[0].value = ''; arguments[0].dispatchEvent(new Event('input'))", field)
            field.send_keys(text)
        return field

    def send(self, label, within=".stage", /, **values):
        """Fills in the form of an intent and sends it."""
        field = self.fill(within, **values)
        control = self.browser.run("return arguments[0].form.querySelector('[type=submit]')", field)
        self.assertEqual(control.accessible_name, label)
        self.browser.run("arguments[0].click()", control)

    def open(self, path):
        self.browser.go(f"views/{path}")
        self.browser.eventually(lambda: self.browser.all(".stage > .view"), what=f"the view {path}")
        self.check_names(self.browser, path)

    def fact(self, name):
        return self.browser.run("""
            return [...document.querySelectorAll('.stage .fact, dialog .fact')].find(x => x.firstElementChild.textContent === arguments[0])?.lastElementChild.textContent""", name)

    def shows(self, name, value):
        self.browser.eventually(lambda: self.fact(name) == value, what=f"{name} is {value!r}, not {self.fact(name)!r}")

    def cell(self):
        self.browser.go("views/cell")
        self.fill(".detail", name="lamp").send_keys(Keys.ENTER)
        self.browser.has("lamp")
        self.send("Set", value="5")
        self.shows("Value", "5")
        self.send("Add", by="2.5")
        self.shows("Value", "7.5")
        self.place.call("set", {"source": "cells/lamp", "value": False})
        self.shows("Value", "no")
        self.act("Toggle")
        self.shows("Value", "yes")
        self.act("Remove")
        self.confirm("Remove")
        self.shows("Value", "–")

    def people(self):
        self.open("people")
        self.act("Create")
        self.send("Create", name="Ada", color="#336699")
        self.browser.has("Ada")
        self.act("Create")
        self.send("Create", name="Bob")
        self.browser.has("Bob")
        # Rows that come and go leave the others where they are, and the focus.
        row = self.browser.named("Remove Bob")
        self.browser.run("arguments[0].focus()", row)
        self.place.call("people.create", {"name": "Zoe"})
        self.browser.has("Zoe")
        self.place.call("people.remove", {"id": 3})
        self.browser.eventually(lambda: "Zoe" not in self.browser.text, what="the row is gone")
        self.assertEqual(self.browser.focused, row)
        self.act("Open Ada")
        self.shows("Name", "Ada")
        self.act("Rename")
        self.send("Rename", name="Ada Lovelace")
        self.shows("Name", "Ada Lovelace")
        self.act("Color")
        self.send("Color", color="#112233")
        self.shows("Color", "#112233")
        self.act("Reverse name")
        self.shows("Name", "ecalevoL adA")
        self.act("Show")
        self.send("Show", id="2")
        self.shows("Name", "Bob")
        self.act("Remove")
        self.confirm("Remove")
        eventually(lambda: [person["id"] for person in self.place.call("people.list")["value"]] == [1])
        self.open('person/{"id":1}')
        self.shows("Name", "ecalevoL adA")
        self.open("people")
        self.act("Remove ecalevoL adA")
        self.confirm("Remove")
        self.browser.has("Nothing here yet.")

    def todo(self):
        self.open("todo")
        self.browser.has("Nothing here yet.")
        self.send("Add", title="Water the plants")
        self.browser.has("Water the plants")
        # The line stays for the next one.
        self.send("Add", title="Buy milk")
        self.browser.has("Buy milk")
        # What is done is a box; there is no button beside it.
        done = lambda: self.browser.run("return [...document.querySelectorAll('.stage tbody tr')].map(row => [row.children[0].textContent, row.children[1].querySelector('input[type=checkbox]').checked])")
        self.browser.eventually(lambda: done() == [["Water the plants", False], ["Buy milk", False]], what="two open ones")
        self.assertNotIn("Toggle", self.browser.text)
        self.browser.named("Done Buy milk", role="checkbox").click()
        self.browser.eventually(lambda: done()[1] == ["Buy milk", True], what="one is done")
        eventually(lambda: [item["done"] for item in self.place.call("todo.list")["value"]] == [False, True])
        self.act("Rename Water the plants")
        self.send("Rename", "dialog", title="Water the cactus")
        self.browser.eventually(lambda: done()[0] == ["Water the cactus", False], what="another title")
        # What another client does comes by itself.
        third = self.place.call("todo.add", {"title": "Call grandma"})["value"]["id"]
        self.place.call("todo.finish", {"id": third})
        self.browser.eventually(lambda: done()[2:] == [["Call grandma", True]], what="what another client has added")
        self.act("Clear done")
        self.confirm("Clear done")
        self.browser.eventually(lambda: done() == [["Water the cactus", False]], what="only the open one")
        self.act("Remove Water the cactus")
        self.confirm("Remove")
        self.browser.has("Nothing here yet.")
        self.assertEqual(self.place.call("todo.list")["value"], [])

    def threads(self):
        self.log_in("kim")
        self.open("threads")
        self.send("Start", name="Kettle")
        self.browser.has("Kettle")
        self.act("Open Kettle")
        self.send("Post", body="It leaks.")
        self.browser.has("It leaks.")
        self.act("Like It leaks.")
        self.browser.has("Likes 1")
        self.act("Unlike It leaks.")
        self.browser.has("Likes 0")
        self.act("Edit It leaks.")
        self.send("Edit", "dialog", body="It dripped.")
        self.browser.has("It dripped.")
        self.act("Rename")
        self.send("Rename", name="New kettle")
        self.shows("Name", "New kettle")
        self.act("Remove It dripped.")
        self.confirm("Remove")
        self.browser.eventually(lambda: not self.browser.all(".feed li") or "It dripped." not in self.browser.text, what="the post is gone")
        self.open('thread/{"id":1}')
        self.browser.has("New kettle")
        self.open("threads")
        self.act("Remove New kettle")
        self.confirm("Remove")
        self.browser.has("Nothing here yet.")

    def log_in(self, name):
        self.open("chat")
        if self.browser.all("[role=tab]"):
            return
        self.send("Log in", name=name)
        self.shows("User", name)

    def search(self):
        self.friend.call("chat.create", {"name": "cellar"})
        self.friend.call("chat.send", {"room": "cellar", "text": "where is the corkscrew"})
        self.friend.call("chat.send", {"room": "cellar", "text": "corks are here"})
        for i in range(140):
            self.friend.call("chat.send", {"room": "cellar", "text": f"message {i}"})
        self.open("search")
        field = self.browser.find(".composer input")
        # Nothing is found yet that could be selected.
        self.assertNotIn("Select", self.browser.text)
        field.send_keys("corks")
        self.browser.eventually(lambda: len(self.browser.all(".rows .link")) == 2, what="results while typing")
        self.assertEqual(self.browser.focused, field)
        field.send_keys("crew")
        self.browser.eventually(lambda: len(self.browser.all(".rows .link")) == 1, what="the result of the whole word")
        self.assertIsNone(self.fact("Term"), "the term is in the field")
        self.browser.find(".rows .link").click()
        self.browser.eventually(lambda: self.browser.all(".feed li.chosen"), what="the message that was found")
        for name in ("Newer", "End"):
            self.use(name)
        self.browser.has("message 139")

    def system(self):
        self.open("system")
        self.browser.eventually(lambda: " %" in (self.fact("Busy") or ""), what="the share of the processor")
        self.browser.eventually(lambda: "iB" in (self.fact("Memory") or ""), what="the memory")
        # A machine without swap has no line of it.
        with open("/proc/meminfo", encoding="ascii") as file:
            has_swap = not re.search(r"SwapTotal:\s+0 kB", file.read())
        self.assertEqual("Swap" in self.fact("Memory"), has_swap)
        # On a phone each measurement is in one piece, within the page.
        self.browser.resize(360, 700)
        self.browser.eventually(lambda: self.browser.run("""
            const parts = [...document.querySelectorAll('.stage .fact .part')];
            return parts.length && parts.every(x => x.getClientRects().length === 1 && x.getBoundingClientRect().right <= innerWidth)"""), what="each measurement is in one piece")
        self.browser.resize(1280, 900)

    def feeds(self):
        self.open("feeds")
        self.act("Add")
        self.send("Add", url=f"http://127.0.0.1:{self.server.server_address[1]}/radio.xml", id="radio")
        self.browser.eventually(lambda: self.browser.all(".table .link"), what="the feed")
        self.act("Refresh")
        self.browser.find(".table .link").click()
        self.browser.has("Second episode")
        self.browser.eventually(lambda: self.browser.run("const x = [...document.querySelectorAll('.acts button')].find(x => x.textContent === 'Mark played'); x?.click(); return x"), what="an episode can be marked")
        eventually(lambda: any(item["event"]["type"] == "feeds.marked" for item in self.place.call("history", {"source": "events"})["items"]))
        self.act("Refresh")
        self.open('feed/{"id":"radio"}')
        self.browser.has("First episode")
        self.act("Unsubscribe")
        self.confirm("Unsubscribe")
        self.browser.has("This view has ended: the view has closed")

    def is_at_end(self):
        """Waits until the last message of the feed is in sight."""
        self.browser.eventually(lambda: self.browser.run("""
            const list = document.querySelector('.feed');
            return list.scrollHeight > list.clientHeight && list.scrollHeight - list.scrollTop - list.clientHeight < 2"""), what="the end of the messages")

    def chat(self):
        self.open("chat")
        self.browser.named("Profile", role="tab").click()
        self.act("Log out")
        self.browser.has("Choose a name.")
        self.act("Choose kim")
        self.shows("User", "kim")
        self.act("Create")
        self.send("Create", name="hall", topic="Boots")
        self.browser.has("hall")
        self.act("Enter cellar")
        self.browser.has("message 139")
        self.send("Send", text="hello cellar")
        self.browser.has("hello cellar")
        eventually(lambda: self.friend.call("chat.history", {"room": "cellar"})["value"][-1]["text"] == "hello cellar")
        # The last message stays in sight, also if there is less room for it.
        for size in (360, 500), (1280, 900):
            self.browser.resize(*size)
            self.is_at_end()
        # Also if the scroll that comes with another size is reported before that size.
        self.browser.run("""
            const list = document.querySelector('.feed');
            list.style.height = '150px';
            list.dispatchEvent(new Event('scroll'))""")
        self.is_at_end()
        self.browser.run("document.querySelector('.feed').style.height = ''")
        self.is_at_end()
        self.act("Edit hello cellar")
        self.send("Edit", "dialog", text="hello all")
        self.browser.has("hello all")
        self.act("Remove hello all")
        self.confirm("Remove")
        self.browser.has("removed")
        self.use("Older")
        self.act("Describe")
        self.send("Save", "dialog", topic="Dark")
        self.shows("Topic", "Dark")
        self.act("Describe")
        self.act("Dismiss", within="dialog")
        self.browser.eventually(lambda: not self.browser.all("dialog"), what="the dialog is closed")
        self.act("Leave")
        self.confirm("Leave")
        self.browser.has("hall")
        self.act("Leave hall")
        self.confirm("Leave")
        self.act("Enter hall")
        self.act("Describe")
        self.act("Remove", within="dialog")
        self.browser.has("The past keeps what was.")
        self.browser.run("[...document.querySelectorAll('dialog')].at(-1).querySelector('.danger').click()")
        eventually(lambda: "hall" not in json.dumps(self.place.call("get", {"source": "chat/rooms"})))
        self.open('room/{"room":"cellar","as":"kim"}')
        self.browser.has("message 139")
        self.assertNotIn("Edit", self.browser.text, "what only members may do is not offered")
        self.act("Join")
        self.browser.has("Edit")

    def use(self, name):
        """Uses an intent that moves a list, once it is offered; its button may be out of sight."""
        self.browser.eventually(lambda: self.browser.run("""
            const control = [...document.querySelectorAll('.stage .actions button')].find(x => x.textContent === arguments[0]);
            control?.click();
            return control !== undefined""", name), what=name)
        time.sleep(0.2)

    def profile(self):
        self.open("chat")
        self.browser.named("Profile", role="tab").click()
        self.act("Edit profile")
        self.send("Save", "dialog", full_name="Kim Test", about="Tests.")
        self.shows("Full name", "Kim Test")
        self.act("Edit profile")
        self.act("Dismiss", within="dialog")
        self.browser.eventually(lambda: not self.browser.all("dialog"), what="the dialog is closed")
        self.send("Add friend", name="grace")
        self.shows("Friends", "grace")
        self.act("Token")
        self.act("Make", within="dialog")
        token = self.browser.eventually(lambda: len(self.fact("Token") or "") > 12 and self.fact("Token"), what="a token")
        self.act("Done", within="dialog")
        self.browser.eventually(lambda: not self.browser.all("dialog"), what="the dialog is closed")
        self.act("Friends")
        self.browser.has("Here")
        self.act("Show grace")
        self.shows("Name", "grace")
        self.browser.click("Friends", within=".crumbs")
        self.act("Remove grace")
        self.browser.has("Nothing here yet.")
        self.send("Add", name="grace")
        self.browser.has("grace")
        self.open("profile")
        self.shows("Name", "kim")
        self.open("friends")
        self.browser.has("grace")
        self.open("chat")
        self.browser.named("Profile", role="tab").click()
        self.act("Log out")
        self.assertFalse(any(field.is_displayed() for field in self.browser.all(".stage [data-name=token]")), "few have a token")
        self.act("I have a token")
        self.send("Token", token=token)
        self.shows("User", "kim")
        self.browser.named("Profile", role="tab").click()
        self.act("Token")
        self.act("Revoke all", within="dialog")
        self.browser.has("The past keeps what was.")
        self.browser.run("[...document.querySelectorAll('dialog')].at(-1).querySelector('.danger').click()")
        eventually(lambda: any(item["event"]["type"] == "users.tokens_revoked" for item in self.place.call("history", {"source": "events"})["items"]))
