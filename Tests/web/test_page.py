"""The page in headless Chromium: what people see and do."""

import itertools
import json
import signal
import time

from browser import Browser, By, Keys, PageCase
from support import Lines, eventually


class Values(PageCase):
    def test_the_tree_shows_values_as_they_change(self):
        for i in range(3):
            self.place.call("set", {"source": f"cells/house/room{i}", "value": i})
        browser = self.open_browser()
        browser.eventually(lambda: browser.run("return [...document.querySelectorAll('.tree .name')].map(x => x.textContent)")[:2] == ["cells", "house"], what="the tree")
        browser.press("/")
        self.assertEqual(browser.focused.accessible_name, "Filter sources by name")
        browser.focused.send_keys("ROOM1")
        browser.eventually(lambda: not browser.all('[id="row:cells/house/room2"]'), what="the others are hidden")
        browser.eventually(lambda: self.row(browser, "cells/house/room1") == "1", what="the source of this name")
        self.place.call("set", {"source": "cells/house/room1", "value": 7})
        curve = lambda: browser.run("""
            const curve = document.getElementById('row:cells/house/room1').querySelector('.spark');
            return !curve.hidden && curve.querySelector('polyline').getAttribute('points')""")
        # From the first value, the lowest, to the last one.
        browser.eventually(lambda: curve() == "0,100 100,0", what=lambda: f"a curve of the last values: {curve()}")
        self.place.call("set", {"source": "cells/house/room1", "value": {"a": "<b>&amp;"}})
        browser.eventually(lambda: self.row(browser, "cells/house/room1") == '{"a":"<b>&amp;"}', what="the new value")
        self.place.call("set", {"source": "cells/house/room10", "value": 10})
        browser.eventually(lambda: self.row(browser, "cells/house/room10") == "10", what="the new source")
        self.place.call("cells.remove", {"name": "house/room10"})
        browser.eventually(lambda: not browser.all('[id="row:cells/house/room10"]'), what="the source is gone")

    @staticmethod
    def row(browser, source):
        return browser.run("return document.getElementById(arguments[0])?.querySelector('.value').textContent", f"row:{source}")

    def test_html_in_names_and_values_is_text(self):
        attack = '<img src=x onerror="document.title=\'hacked\'"><script>document.title="hacked"</script>'
        self.place.call("set", {"source": "cells/a", "value": attack})
        self.place.call("set", {"source": "cells/boards/b", "value": {"title": attack, "tiles": [{"source": "cells/a"}, {"source": attack}]}})
        self.place.call("people.create", {"name": attack})
        with Lines(self.place.socket) as lines:
            lines.call("users.log_in", {"name": "ada"})
            lines.call("chat.create", {"name": "room", "topic": attack})
            lines.call("chat.send", {"room": "room", "text": attack})
        browser = self.open_browser()
        for path, text in (
            ("sources/cells/a", attack), ("events", "onerror"), ("boards/b", attack), ("views/people", attack),
            ('views/room/{"room":1,"as":"ada"}', attack),
        ):
            browser.go(path)
            browser.has(text)
            self.assertEqual(browser.run("return [document.images.length, document.querySelectorAll('main script, main img').length, document.title.includes('hacked')]"), [1, 0, False], path)
        # Even code of the page could not make HTML of a text.
        self.assertIn("TrustedHTML", browser.run("try { document.body.innerHTML = 'x' } catch (error) { return error.message }"))

    def test_a_dialog_shows_a_newer_value_and_ends_with_its_page(self):
        self.place.call("set", {"source": "cells/volume", "value": 4242})
        browser = self.open_browser()
        browser.go("sources")
        browser.go("sources/cells/volume")
        browser.has("Changed")
        browser.click("Set", within="article")
        self.place.call("set", {"source": "cells/volume", "value": 77})
        browser.eventually(lambda: "It is 77 now." in browser.find("dialog").text, what="the newer value")
        browser.run("history.back()")
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        browser.go("xyz")
        browser.has("There is no page ‘xyz’.")

    def test_a_value_that_has_changed_meanwhile_is_replaced_only_on_purpose(self):
        for value in (1, 4242):
            self.place.call("set", {"source": "cells/volume", "value": value})
        browser = self.open_browser()
        browser.go("sources/cells/volume")
        browser.has("Changed")
        browser.click("Set", within="article")
        browser.type("Value", "9", within="dialog")
        self.place.call("set", {"source": "cells/volume", "value": 77})
        browser.eventually(lambda: "It is 77 now." in browser.find("dialog").text, what="the newer value")
        browser.click("Set", within="dialog")
        browser.has("It has changed meanwhile to 77.")
        self.assertEqual(self.place.call("get", {"source": "cells/volume"})["value"], 77)
        browser.click("Set", within="dialog")
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        self.assertEqual(self.place.call("get", {"source": "cells/volume"})["value"], 9)

    def test_an_earlier_value_is_set_again_and_the_past_says_that_the_present_changes(self):
        for value in ("blue", "red", "green"):
            self.place.call("set", {"source": "cells/wall", "value": value})
        browser = self.open_browser()
        browser.go("sources/cells/wall")
        browser.has("Changed")
        browser.click("Set to this value, blue")
        browser.has("This changes the present value, which is green.")
        browser.click("Set", within="dialog")
        eventually(lambda: self.place.call("get", {"source": "cells/wall"})["value"] == "blue")
        browser.click("Show everything as of position 2")
        browser.eventually(lambda: browser.find("output.big").text == "red", what="the past")
        browser.click("Set", within="article")
        browser.has("The page shows the past. This changes the present value, which is blue.")

    def test_the_page_says_why_a_value_is_as_it_is(self):
        self.place.call("bind", {"expr": "cells/celsius | above(30) ~> cells/alarm", "scope": "daemon"})
        self.place.call("set", {"source": "cells/celsius", "value": 31})
        eventually(lambda: self.place.call("cells.list")["value"].get("alarm") is True)
        browser = self.open_browser()
        browser.go("sources/cells/alarm")
        browser.has("Changed")
        browser.click("Why?")
        browser.eventually(lambda: len(browser.all(".reasons li")) == 2, what="two events")
        first, second = [item.text for item in browser.all(".reasons li")]
        self.assertIn("cells/alarm became true", first)
        self.assertIn("by the binding cells/celsius | above(30) ~> cells/alarm", first)
        self.assertIn("cells/celsius became 31", second)

    def test_the_page_says_who_one_is_and_on_which_machine(self):
        who = self.place.call("whoami")
        browser = self.open_browser()
        browser.has(f"{who['user']} on {who['host']}")
        browser.eventually(lambda: f"Binder on {who['host']}" in browser.run("return document.title"), what="the machine in the title")

    def test_a_value_is_set_and_typed_faults_are_shown(self):
        self.place.call("set", {"source": "cells/lamp", "value": False})
        browser = self.open_browser()
        browser.go("sources/cells/lamp")
        browser.named("cells/lamp on or off", role="switch").click()
        eventually(lambda: self.place.call("get", {"source": "cells/lamp"})["value"] is True)
        # The dialog begins with the value that the page shows.
        browser.eventually(lambda: browser.find("output.big").text == "true", what="the page shows the new value")
        browser.click("Set", within="article")
        browser.type("Value", '{"a": [1,', within="dialog")
        browser.has("This takes JSON that is complete")
        browser.type("Value", '{"a": [1, 2]}', within="dialog")
        browser.has("read as object")
        browser.chord(Keys.CONTROL, Keys.ENTER)
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        self.assertEqual(self.place.call("get", {"source": "cells/lamp"})["value"], {"a": [1, 2]})
        browser.click("Remove", within="article")
        browser.click("Remove", within="dialog")
        eventually(lambda: "lamp" not in self.place.call("cells.list")["value"])

    def test_the_past_is_a_plot_with_a_slider(self):
        for i in range(30):
            self.place.call("set", {"source": "cells/t", "value": i})
            self.place.call("set", {"source": "cells/other", "value": f"v{i}"})
        seqs = [item["seq"] for item in self.place.call("history", {"source": "events", "filter": {"streams": ["cells/t"]}})["items"]]
        browser = self.open_browser()
        browser.go("sources/cells/t")
        browser.eventually(lambda: "30 values from 0 to 29" in browser.find(".plot canvas").accessible_name, what="the plot")
        # The plot has its name before it is drawn in the next frame.
        drawn = """
            const canvas = document.querySelector('.plot canvas');
            const pixels = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
            return pixels.filter((_, i) => i % 4 === 3 && pixels[i]).length"""
        browser.eventually(lambda: browser.run(drawn) > 1000, what="the drawn plot")
        # The axis of numbers that are not negative begins at zero.
        lowest = "return import('/charts/chart.mjs').then(({Chart}) => Chart.getChart(document.querySelector('.plot canvas')).scales.y.min)"
        self.assertEqual(browser.run(lowest), 0)
        # As of a change: all values are those of that moment.
        browser.click(f"Show everything as of position {seqs[10]}")
        browser.eventually(lambda: browser.find("output.big").text == "10", what="the old value")
        browser.eventually(lambda: self.row(browser, "cells/other") == "v9", what="the other old value")
        browser.eventually(lambda: "ago" in browser.find(".timebar output").text, what="how long ago it was")
        # The slider goes on in time, with the keys.
        slider = browser.named("Moment shown")
        slider.send_keys(Keys.END)
        browser.eventually(lambda: browser.find("output.big").text == "29", what="the present value")
        slider.send_keys(Keys.HOME)
        browser.eventually(lambda: browser.find("output.big").text in ("–", "0"), what="the first value")
        browser.click("Back to now")
        browser.eventually(lambda: browser.find("output.big").text == "29", what="the present value")
        self.place.call("set", {"source": "cells/t", "value": 77})
        browser.eventually(lambda: "from 0 to 77" in browser.find(".plot canvas").accessible_name, what="the live plot")
        # All that the page has loaded came from binder-web.
        loaded = browser.run("return performance.getEntriesByType('resource').map(({name}) => name)")
        self.assertTrue(any("/charts/" in name for name in loaded), loaded)
        self.assertEqual([name for name in loaded if not name.startswith(f"{browser.host}/")], [])

    def test_several_sources_share_a_plot(self):
        self.place.call("types.set", {"pattern": "cells/*/celsius", "type": 'number, "°C"'})
        self.place.call("types.set", {"pattern": "cells/hall/celsius", "type": 'number, "°C", "Hall"'})
        for i in range(10):
            self.place.call("set", {"source": "cells/hall/celsius", "value": 20 + i})
            self.place.call("set", {"source": "cells/attic/celsius", "value": 10 + i})
            self.place.call("set", {"source": "cells/heater", "value": i % 2 == 0})
        self.place.call("set", {"source": "cells/word", "value": "dusk"})
        self.place.call("set", {"source": "cells/words", "value": {"a": "x", "b": [1]}})
        browser = self.open_browser()
        browser.go("sources/cells/hall/celsius")
        name = lambda: browser.find(".plot canvas").accessible_name
        browser.eventually(lambda: "10 values from 20 to 29" in name(), what="the plot")
        self.assertFalse(browser.find(".legend").is_displayed())
        browser.type("Another source for the plot", "attic")
        proposed = "return [...document.querySelectorAll('#others option')].map(x => x.value)"
        browser.eventually(lambda: browser.run(proposed) == ["cells/attic/celsius"], what="the proposed name")
        for other in "cells/attic/celsius", "cells/heater":
            browser.type("Another source for the plot", other)
            browser.focused.send_keys(Keys.ENTER)
        browser.eventually(lambda: "cells/attic/celsius" in name() and "10 values from 10 to 19" in name() and "from 0 to 1" in name(), what="the other curves")
        legend = "return [...document.querySelectorAll('.legend li > span:nth-child(2)')].map(x => x.textContent)"
        names = ["Hall (°C)", "cells/attic/celsius (°C)", "cells/heater (on or off)"]
        browser.eventually(lambda: browser.run(legend) == names, what="the legend")
        chart = "return import('/charts/chart.mjs').then(({Chart}) => { const {data, scales} = Chart.getChart(document.querySelector('.plot canvas')); return [data.datasets.map(x => [x.label, x.yAxisID, x.borderColor]), Object.keys(scales).sort()] })"
        # One axis for each unit, one colour for each source. The plot is drawn after its legend.
        drawn = [["Hall", "y"], ["cells/attic/celsius", "y"], ["cells/heater", "y2"]]
        browser.eventually(lambda: [curve[:2] for curve in browser.run(chart)[0]] == drawn, what=lambda: f"the drawn curves: {browser.run(chart)}")
        curves, axes = browser.run(chart)
        self.assertEqual(axes, ["x", "y", "y2"])
        self.assertEqual(len({color for _, _, color in curves}), 3)
        self.place.call("set", {"source": "cells/attic/celsius", "value": 5})
        browser.eventually(lambda: "11 values from 5 to 19" in name(), what="the live curve")
        for other, fault in (
            ("cells/nowhere/none", "There is no source cells/nowhere/none."), ("cells/word", "cells/word has no number."),
            ("cells/words", "cells/words has no number."), ("system/load", "The journal does not keep a source of this name."),
        ):
            browser.type("Another source for the plot", other)
            browser.focused.send_keys(Keys.ENTER)
            browser.has(fault)
            self.assertEqual(browser.run(legend), names)
        browser.type("Another source for the plot", "cells/heater")
        browser.focused.send_keys(Keys.ENTER)
        browser.has("It is in the plot.")
        browser.click("Remove cells/attic/celsius from the plot")
        browser.eventually(lambda: "attic" not in name(), what="it is removed")
        # The others are there again when one comes back.
        browser.go("sources/cells/heater")
        browser.eventually(lambda: name().startswith("cells/heater"), what="another source")
        browser.eventually(lambda: "Hall" not in browser.run("return document.querySelector('.legend').textContent"), what="its own legend")
        browser.go("sources/cells/hall/celsius")
        browser.eventually(lambda: "cells/heater" in name() and name().startswith("cells/hall/celsius"), what="the source with the other")

    def test_what_acts_on_the_present_says_so_while_the_past_is_shown(self):
        for i in range(3):
            self.place.call("set", {"source": "cells/n", "value": i})
        self.place.call("set", {"source": "cells/boards/b", "value": {"tiles": [{"source": "cells/n"}]}})
        browser = self.open_browser()
        browser.go("sources/cells/n")
        browser.has("Changed")
        note = lambda: browser.find("#present").text
        browser.go("services")
        browser.eventually(lambda: browser.run("return document.title").startswith("Services"), what="the services")
        self.assertEqual(note(), "")
        browser.go("sources/cells/n")
        browser.named("Moment shown").send_keys(Keys.HOME)
        browser.eventually(lambda: browser.all(".timebar.past"), what="the past")
        self.assertEqual(note(), "")
        for part, text in (
            ("services", "methods are called in the present"), ("views", "views show the present, and act on it"),
            ("boards/b", "What you change here is changed in the present"),
        ):
            browser.go(part)
            browser.eventually(lambda: text in note(), what=f"the note of {part}")
        browser.click("Back to now")
        browser.eventually(lambda: note() == "", what="the present")

    def test_the_time_begins_with_the_first_event(self):
        begin = time.time()
        self.place.call("set", {"source": "cells/n", "value": 1})
        browser = self.open_browser()
        # The part that a new page shows first.
        browser.go("sources/cells/n")
        browser.driver.refresh()
        browser.eventually(lambda: "1 values" in browser.find(".plot canvas").accessible_name, what="the plot")
        # Ten seconds are the least that the slider has; after them it begins with the event.
        def span():
            since = browser.find(".plot canvas").accessible_name.split(" since ")[1][:8]
            seconds = sum(int(part) * unit for part, unit in zip(since.split(":"), (3600, 60, 1)))
            local = time.localtime(begin)
            return (local.tm_hour * 3600 + local.tm_min * 60 + local.tm_sec - seconds + 43200) % 86400 - 43200

        browser.eventually(lambda: -2 <= span() <= 12, what=lambda: f"the time begins {span()} s before")

    def test_the_past_that_is_asked_for_twice_is_shown_once(self):
        for value in range(3):
            self.place.call("set", {"source": "cells/n", "value": value})
        browser = self.open_browser()
        browser.go("sources/cells/n")
        browser.has("Changed")
        self.place.daemon.send_signal(signal.SIGSTOP)
        try:
            for span in "900000", "3600000":
                browser.run("const s = document.querySelector('.timebar select'); s.value = arguments[0]; s.dispatchEvent(new Event('change'))", span)
                time.sleep(0.4)
        finally:
            self.place.daemon.send_signal(signal.SIGCONT)
        browser.eventually(lambda: not browser.all(".source [aria-busy=true]"), what="the past is there")
        self.place.call("set", {"source": "cells/n", "value": 77})
        values = lambda: browser.run("return [...document.querySelectorAll('table.changes td.value')].map(x => x.textContent)")
        browser.eventually(lambda: values() == ["77", "2", "1", "0"], what=lambda: f"the change: {values()}")
        time.sleep(0.3)
        self.assertEqual(values(), ["77", "2", "1", "0"])
        subscriptions = lambda: max(client["subscriptions"] for client in self.place.call("get", {"source": "daemon/connections"})["value"])
        # Beside the services: changes of the catalogue, changes of types, and the source.
        wanted = lambda: browser.run("return [...binder.store.services].filter(({name}) => binder.store.isWatched(name)).length") + 3
        browser.eventually(lambda: subscriptions() == wanted(), what=lambda: f"{wanted()} subscriptions, not {subscriptions()}")

    def test_an_address_that_is_not_encoded_is_taken_as_it_is(self):
        browser = self.open_browser()
        browser.go("sources/cells/50%")
        browser.driver.refresh()
        browser.eventually(lambda: browser.find("article.source").accessible_name == "cells/50%", what="the source")
        self.assertEqual(browser.log(), [])

    def test_arguments_of_a_view_that_cannot_be_read_are_a_fault(self):
        browser = self.open_browser()
        browser.eventually(lambda: browser.run("return binder.store.views.length > 0"), what="the catalogue")
        for args in "notjson", "[1]", '{"name":12345678901234567890}':
            browser.go("views")
            browser.has("Choose a view.")
            browser.go(f"views/cell/{args}")
            browser.has("The address of this view takes")
            # The same with a new page.
            browser.driver.refresh()
            browser.has("The address of this view takes")
        browser.go('views/cell/{"name":"a"}')
        browser.has("Toggle")
        self.assertEqual(browser.log(), [])

    def test_the_name_of_a_board_may_have_a_slash(self):
        self.place.call("set", {"source": "cells/a", "value": 5})
        tiles = [{"source": "cells/a"}, {"source": "cells/50%"}]
        self.place.call("set", {"source": "cells/boards/wall/one", "value": {"title": "Hall", "tiles": tiles}})
        browser = self.open_browser()
        browser.go("boards")
        browser.click("Hall 2 sources")
        browser.eventually(lambda: browser.find(".tile .value").text == "5", what="the tile")
        hrefs = browser.run("return [...document.querySelectorAll('.tile header a')].map(x => x.getAttribute('href'))")
        self.assertEqual(hrefs, ["#/sources/cells/a", "#/sources/cells/50%25"])
        browser.run("document.querySelectorAll('.tile header a')[1].click()")
        browser.eventually(lambda: browser.find("article.source").accessible_name == "cells/50%", what="the source")

    def test_boards_that_are_not_loaded_are_not_said_to_be_missing(self):
        browser = self.open_browser()
        browser.go("boards/wall")
        browser.has("There is no board wall.")
        browser.run("binder.store.failures.set('cells', new Error('too long')); binder.store.dispatchEvent(new Event('names'))")
        browser.has("The boards are not loaded: too long")
        browser.go("boards")
        browser.has("The boards are not loaded: too long")

    def test_boards_are_kept_in_cells(self):
        self.place.call("set", {"source": "cells/a", "value": 1})
        self.place.call("set", {"source": "cells/b", "value": True})
        browser = self.open_browser()
        browser.go("sources/cells/a")
        browser.click("Pin to a board")
        browser.type("Name", "My Wall!", within="dialog")
        browser.click("Pin to a new board")
        browser.has("cells/a is on the board my-wall")
        browser.go("sources/cells/b")
        browser.click("Pin to a board")
        browser.click("My-wall", within="dialog")
        browser.has("cells/b is on the board my-wall")
        browser.go("boards/my-wall")
        browser.named("cells/b on or off", role="switch").click()
        eventually(lambda: self.place.call("get", {"source": "cells/b"})["value"] is False)
        browser.click("Arrange")
        browser.click("Move back: cells/b")
        browser.click("Other size: cells/a")
        wanted = [{"source": "cells/b"}, {"source": "cells/a", "size": "wide"}]
        eventually(lambda: self.place.call("get", {"source": "cells/boards/my-wall"})["value"]["tiles"] == wanted)
        browser.click("Title and unit: cells/a")
        browser.type("Title optional", "Tank", within="dialog")
        browser.type("Unit optional", "l", within="dialog")
        browser.type("Digits optional", "1", within="dialog")
        browser.click("Change", within="dialog")
        wanted[1] |= {"title": "Tank", "unit": "l", "digits": 1}
        eventually(lambda: self.place.call("get", {"source": "cells/boards/my-wall"})["value"]["tiles"] == wanted)
        browser.has("Tank")
        browser.click("Take off: cells/b")
        eventually(lambda: self.place.call("get", {"source": "cells/boards/my-wall"})["value"]["tiles"] == wanted[1:])
        browser.click("Rename")
        browser.type("Title", "Hall", within="dialog")
        browser.click("Rename", within="dialog")
        browser.has("Hall")
        self.place.call("set", {"source": "cells/a", "value": 42})
        browser.eventually(lambda: browser.find(".tile .value").text == "42.0 l", what="the live tile")
        # A tile with a curve has the least room for its buttons.
        browser.eventually(lambda: browser.all(".tile .spark:not([hidden])"), what="the curve")
        for size, (width, height) in itertools.product(("wide", "large", "small"), ((360, 740), (1280, 900), (2560, 1300))):
            browser.resize(width, height)
            browser.eventually(lambda: browser.run("""
                const tile = document.querySelector(`.tile.${arguments[0]}`)?.getBoundingClientRect();
                const buttons = [...document.querySelectorAll('.tile .edit .button')].map(x => x.getBoundingClientRect());
                return tile && buttons.length === 4 && buttons.every((box, i) => box.width >= 24 && box.height >= 24
                  && box.left >= tile.left && box.right <= tile.right && box.top >= tile.top && box.bottom <= tile.bottom
                  && (!i || box.left >= buttons[i - 1].right))""", size), what=f"the buttons are within the {size} tile at {width}")
            if width == 2560:
                browser.click("Other size: cells/a")
        browser.resize(1280, 900)
        browser.click("Remove board")
        browser.click("Remove", within="dialog")
        eventually(lambda: "boards/my-wall" not in self.place.call("cells.list")["value"])
        self.assertEqual(browser.log(), [])


class Log(PageCase):
    def rows(self, browser):
        return browser.run("return [...document.querySelectorAll('.log li')].map(row => [...row.querySelectorAll('.type, .stream, .data')].map(x => x.textContent).join(' '))")

    def test_events_come_live_and_are_filtered(self):
        for i in range(5):
            self.place.call("set", {"source": "cells/a", "value": i})
            self.place.call("lists.append", {"name": "l", "value": i})
        browser = self.open_browser()
        browser.go("events")
        browser.eventually(lambda: len(self.rows(browser)) == 10, what="all events")
        self.assertEqual(self.rows(browser)[-1], 'cells.set cells/a {"value":0}')
        browser.type("Streams of events", "a")
        browser.eventually(lambda: len(self.rows(browser)) == 5, what="the events of streams with a part of this name")
        browser.type("Streams of events", "cells/**")
        browser.eventually(lambda: len(self.rows(browser)) == 5, what="the events of the stream")
        browser.type("Member of the data", "value")
        browser.find("[aria-label=Condition]").send_keys("is at least")
        browser.type("Value of the condition", "3")
        browser.eventually(lambda: self.rows(browser) == ['cells.set cells/a {"value":4}', 'cells.set cells/a {"value":3}'], what="the filtered events")
        self.place.call("set", {"source": "cells/a", "value": 2})
        self.place.call("set", {"source": "cells/a", "value": 9})
        browser.eventually(lambda: self.rows(browser)[0] == 'cells.set cells/a {"value":9}', what="the new event")
        browser.click("Pause")
        self.place.call("set", {"source": "cells/a", "value": 10})
        browser.has("1 new events wait.")
        browser.click("Go on")
        browser.eventually(lambda: [row[-2] for row in self.rows(browser)] == ["0", "9", "4", "3"], what="the events in order")
        browser.type("Value of the condition", "[1,")
        browser.has("JSON that is complete")

    def test_older_events_and_who(self):
        for i in range(250):
            self.place.call("set", {"source": "cells/a", "value": i})
        browser = self.open_browser()
        browser.go("events")
        browser.eventually(lambda: len(self.rows(browser)) == 100, what="the last events")
        browser.run("document.querySelector('.events > .actions button').click()")
        browser.eventually(lambda: len(self.rows(browser)) == 250, what="all events")
        self.assertEqual([json.loads(row.split(" ", 2)[2])["value"] for row in self.rows(browser)], list(range(249, -1, -1)))
        browser.run("document.querySelector('.filters [type=checkbox]').click()")
        browser.has("uid 0")
        browser.run("document.querySelector('.log .line').click()")
        browser.has("Version")
        browser.click("Everything as of here")
        browser.eventually(lambda: "past" in browser.find(".timebar").get_attribute("class"), what="the past")


class Forms(PageCase):
    def test_a_form_for_each_method_checks_types_as_typed(self):
        browser = self.open_browser()
        browser.go("services/cells/add")
        browser.type("Name", "n")
        browser.type("By optional", "x")
        browser.has("This takes a number such as 12 or 0.5.")
        self.assertEqual(browser.find("[data-name=by]").get_attribute("aria-invalid"), "true")
        browser.click("Call add")
        browser.eventually(lambda: browser.focused.get_attribute("data-name") == "by", what="the focus is where the fault is")
        browser.type("By optional", "2.5")
        browser.click("Call add")
        browser.has('"value": 2.5')
        self.assertEqual(self.place.call("get", {"source": "cells/n"})["value"], 2.5)
        browser.type("Name", "not a name")
        browser.click("Call add")
        browser.eventually(lambda: browser.find("[data-name=name]").get_attribute("aria-invalid") == "true", what="the fault at its parameter")
        browser.go("services/people/create")
        browser.click("Call create")
        browser.eventually(lambda: "1 to 100" in browser.find(".field .fault:not([hidden])").text, what="the fault of the daemon at its parameter")
        browser.go("services/binderd/history")
        browser.click("Call history")
        browser.type("Source", "cells/n")
        browser.type("At optional", '{"seq": 1}')
        browser.click("Call history")
        browser.has('"value": 2.5')

    def test_a_present_number_that_a_browser_cannot_keep_is_not_sent_as_another_one(self):
        number = 12345678901234567
        self.place.call("set", {"source": "cells/n", "value": {"id": number, "on": True}})
        browser = self.open_browser()
        browser.go("sources/cells/n")
        browser.has("Changed")
        browser.click("Set", within="article")
        self.assertEqual(browser.named("Value", within="dialog").get_attribute("value"), "")
        browser.has("which a browser cannot keep")
        browser.click("Set", within="dialog")
        browser.has("This needs a value.")
        self.assertEqual(self.place.call("get", {"source": "cells/n"})["value"]["id"], number)

    def test_a_number_that_a_browser_cannot_keep_is_refused(self):
        self.place.call("set", {"source": "cells/n", "value": 1})
        browser = self.open_browser()
        browser.go("sources/cells/n")
        browser.has("Changed")
        browser.click("Set", within="article")
        fault = "This takes a number of at most 15 digits in a browser."
        texts = {"12345678901234567890": fault, '{"a": [9007199254740993]}': fault, "1e999": "This takes a smaller number.", "[-1e999]": "This takes a smaller number."}
        for text, fault in texts.items():
            browser.type("Value", text, within="dialog")
            browser.eventually(lambda: browser.find("dialog .fault").text == fault, what=f"{text} is refused")
            browser.chord(Keys.CONTROL, Keys.ENTER)
        self.assertEqual(self.place.call("get", {"source": "cells/n"})["value"], 1)
        browser.type("Value", '{"id": 9007199254740991, "x": 1e300}', within="dialog")
        browser.chord(Keys.CONTROL, Keys.ENTER)
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        self.assertEqual(self.place.call("get", {"source": "cells/n"})["value"], {"id": 9007199254740991, "x": 1e300})
        # A typed list or object of a method, too.
        browser.go("services/binderd/history")
        browser.type("Source", "cells/n")
        browser.type("At optional", '{"seq": 12345678901234567890}')
        browser.has("This takes a number of at most 15 digits in a browser.")

    def test_a_service_that_a_program_offers_appears(self):
        browser = self.open_browser()
        browser.go("services")
        browser.has("people")
        self.assertNotIn("lamp", browser.text)
        with Lines(self.place.socket) as program:
            program.call("provide", {"service": "lamp", "methods": {"blink": {"doc": "Blinks once."}}})
            browser.has("lamp")
            browser.go("services/lamp")
            browser.has("Blinks once.")
            program.call("withdraw", {"service": "lamp"})
        self.place.call("services.forget", {"service": "lamp"})
        browser.has("There is no service lamp.")
        # One that was offered by another daemon.
        self.place.kill(self.place.daemon)
        with Lines(self.place.start_daemon() and self.place.socket) as program:
            program.call("provide", {"service": "lamp", "methods": {"blink": {"doc": "Blinks twice."}}})
            browser.has("Blinks twice.")

    def test_every_method_has_a_form(self):
        browser = self.open_browser()
        browser.go("services/cells")
        browser.has("compare_and_set")
        methods = browser.run("return binder.store.services.flatMap(({name, methods}) => Object.keys(methods).map((method) => [name, method]))")
        self.assertGreater(len(methods), 50)
        differing = [browser.driver.execute_async_script("""
            const [name, method, done] = arguments;
            (async () => {
                const {params} = await binder.link.call('describe', {path: `${name}.${method}`});
                location.hash = `#/services/${name}/${method}`;
                const end = performance.now() + 60000;
                const fields = () => [...document.querySelectorAll('.method form [data-name]')].map((field) => field.dataset.name).join();
                const isRight = () => document.querySelector('.method .card[aria-expanded=true] strong')?.textContent === method
                    && document.querySelector('.method form [type=submit]') && fields() === params.map(({name}) => name).join();
                while (!isRight() && performance.now() < end) await new Promise((resolve) => setTimeout(resolve, 5));
                done(isRight() ? null : `${name}.${method}: ${fields()}`);
            })();""", *method) for method in methods]
        self.assertEqual([text for text in differing if text], [])
        self.assertEqual(browser.log(), [])


class Access(PageCase):
    """Every control has a role and a name, and the keys suffice."""

    parts = ("sources", "sources/cells/lamp", "boards", "boards/b", "events", "services/cells/set", "views", "views/people", "views/system", "views/chat", "views/search")

    def setUp(self):
        super().setUp()
        self.place.call("set", {"source": "cells/lamp", "value": True})
        self.place.call("set", {"source": "cells/boards/b", "value": {"tiles": [{"source": "cells/lamp"}]}})
        self.place.call("people.create", {"name": "Ada"})

    def test_every_control_has_a_role_and_a_name(self):
        browser = self.open_browser()
        for width in (1280, 360):
            browser.resize(width, 800)
            for part in self.parts:
                browser.go(part)
                browser.await_there(part)
                self.assertLessEqual({"main", "navigation"}, self.check_names(browser, part))
            for part, name in ("sources", "New cell"), ("sources/cells/lamp", "Pin to a board"), ("sources/cells/lamp", "Remove"), ("boards", "New board"):
                browser.go(part)
                browser.click(name)
                browser.find("dialog")
                self.check_names(browser, name)
                browser.press(Keys.ESCAPE)
                browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")

    def test_nothing_is_wider_than_the_screen(self):
        browser = self.open_browser()
        for width in (360, 768, 1280, 3840):
            browser.resize(width, 800)
            for part in self.parts:
                browser.go(part)
                browser.await_there(part)
                # A plot has the new width in the next frame.
                wide = lambda: browser.run("""
                    return [document.documentElement.scrollWidth, ...[...document.querySelectorAll('main, main > *, .detail, .list')].filter(x => x.scrollWidth > x.clientWidth + 1 && x.clientWidth).map(x => x.className)]""")
                browser.eventually(lambda: wide() == [width], what=lambda: f"{part} fits in {width}: {wide()}")

    def test_a_board_is_as_large_as_its_screen(self):
        sizes = ("wide", "small", "small", "large", "small", "wide", "small", "small", "wide")
        for i in range(len(sizes)):
            self.place.call("set", {"source": f"cells/tile/{i}", "value": i})
        tiles = [{"source": f"cells/tile/{i}", "size": size} for i, size in enumerate(sizes)]
        self.place.call("set", {"source": "cells/boards/wall", "value": {"tiles": tiles}})
        browser = self.open_browser()
        browser.go("boards/wall")
        for width, height in ((3840, 2160), (1920, 1080)):
            browser.resize(width, height)
            browser.eventually(lambda: browser.run("""
                const main = document.querySelector('main');
                const board = document.querySelector('.board');
                return board.children.length === arguments[0] && main.scrollHeight <= main.clientHeight && board.offsetHeight > 0.6 * main.clientHeight""",
                len(sizes)), what=f"the board fills {width} × {height} and is no larger")

    def test_a_long_word_leaves_room_for_its_label(self):
        self.place.call("todo.add", {"title": "w" * 150})
        browser = self.open_browser(width=360, height=720)
        browser.go("views/todo")
        browser.has("www")
        widths = browser.run("""
            const cell = document.querySelector('.stage td[data-label=Title]');
            const {width} = getComputedStyle(cell, '::before');
            const word = document.createElement('canvas').getContext('2d');
            word.font = getComputedStyle(cell).font;
            return [parseFloat(width), word.measureText('Title').width]""")
        self.assertGreater(widths[0], widths[1] * 0.95)
        self.assertEqual(browser.run("return document.documentElement.scrollWidth"), 360)

    def test_keys_leave_the_page_below_a_dialog_alone(self):
        browser = self.open_browser()
        browser.go("sources")
        browser.click("New cell")
        browser.find("dialog")
        browser.chord(Keys.ALT, "3")
        browser.chord(Keys.ALT, "1")
        self.assertEqual(browser.run("return location.hash"), "#/sources")
        browser.press(Keys.ESCAPE)
        browser.eventually(lambda: not browser.all("dialog"), what="the dialog is closed")
        browser.chord(Keys.ALT, "3")
        browser.eventually(lambda: browser.run("return location.hash") == "#/events", what="Alt+3")

    def test_contrast(self):
        browser = self.open_browser()
        for theme in ("light", "dark"):
            browser.run("document.documentElement.dataset.theme = arguments[0]", theme)
            colors = browser.run("""
                const style = getComputedStyle(document.documentElement);
                return Object.fromEntries(['bg', 'panel', 'raised', 'soft', 'text', 'dim', 'accent', 'on-accent', 'bad', 'good', 'warn', 'string', 'number'].map(name => [name, style.getPropertyValue('--' + name).trim()]))""")

            def light(name):
                parts = [int(colors[name][i:i + 2], 16) / 255 for i in (1, 3, 5)]
                linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
                return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

            def contrast(a, b):
                high, low = sorted((light(a), light(b)), reverse=True)
                return (high + 0.05) / (low + 0.05)

            for ground in ("bg", "panel", "raised", "soft"):
                for ink in ("text", "dim", "accent", "bad", "string", "number"):
                    self.assertGreater(contrast(ground, ink), 4.5, f"{theme}: {ink} on {ground}")
            self.assertGreater(contrast("accent", "on-accent"), 4.5, theme)

    def test_the_whole_page_by_keyboard(self):
        browser = self.open_browser()
        browser.has("cells")
        browser.press(Keys.TAB)
        self.assertEqual(browser.focused.accessible_name, "Skip to the content")
        browser.press(Keys.ENTER)
        self.assertEqual(browser.focused.get_attribute("id"), "main")
        # The tree: down to the lamp, and open it.
        browser.press("/", Keys.ARROW_DOWN)
        self.assertEqual(browser.focused.aria_role, "tree")
        browser.press(Keys.HOME, "lam")
        active = lambda: browser.run("return document.getElementById(document.activeElement.getAttribute('aria-activedescendant'))?.innerText") or ""
        browser.eventually(lambda: "lamp" in active(), what=lambda: f"the row of the lamp is active, not {active()!r}")
        browser.press(Keys.ENTER)
        browser.has("Changed")
        self.tab_to(browser, "cells/lamp on or off")
        def shown():
            return browser.run("return document.querySelector('output.big').innerText")

        before = shown()
        browser.press(Keys.SPACE)
        eventually(lambda: self.place.call("get", {"source": "cells/lamp"})["value"] is False)
        # The dialog begins with the value that the page shows, and does not write over a newer one.
        browser.eventually(lambda: shown() != before, what="the page shows the new value")
        self.tab_to(browser, "Set")
        browser.press(Keys.ENTER)
        browser.eventually(lambda: browser.focused.accessible_name == "Value", what="the dialog has the focus")
        browser.chord(Keys.CONTROL, "a")
        browser.press("7")
        browser.chord(Keys.CONTROL, Keys.ENTER)
        eventually(lambda: self.place.call("get", {"source": "cells/lamp"})["value"] == 7)
        browser.eventually(lambda: browser.focused.accessible_name == "Set", what="focus is where it was")
        self.tab_to(browser, "Moment shown")
        browser.press(Keys.HOME)
        browser.eventually(lambda: browser.all(".timebar.past"), what="the past")
        self.tab_to(browser, "Back to now")
        browser.press(Keys.ENTER)
        browser.eventually(lambda: not browser.all(".timebar.past"), what="the present")
        # Each part of the page, without the mouse.
        for digit, name in ("1", "Boards"), ("3", "Events"), ("4", "Services"), ("5", "Views"):
            browser.chord(Keys.ALT, digit)
            browser.eventually(lambda: browser.focused.accessible_name == name, what=f"Alt+{digit}")
        self.tab_to(browser, "People")
        browser.press(Keys.ENTER)
        browser.has("Ada")
        self.tab_to(browser, "Remove Ada")
        browser.press(Keys.ENTER)
        browser.has("The past keeps what was.")
        browser.press(Keys.ESCAPE)
        browser.eventually(lambda: not browser.all("dialog"), what="the question is gone")
        self.assertEqual(len(self.place.call("people.list")["value"]), 1)
        browser.eventually(lambda: browser.focused.accessible_name == "Remove Ada", what="focus is where it was")
        browser.press(Keys.ENTER)
        browser.has("The past keeps what was.")
        self.tab_to(browser, "Remove")
        browser.press(Keys.ENTER)
        eventually(lambda: self.place.call("people.list")["value"] == [])

    def tab_to(self, browser, name):
        for _ in range(60):
            browser.press(Keys.TAB)
            if browser.focused.accessible_name.startswith(name):
                return
        self.fail(f"Tab does not reach {name!r}")
