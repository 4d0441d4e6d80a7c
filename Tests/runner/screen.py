"""Shows how far a run is: a line for each step that has ended, and on a terminal a line that moves."""

import shutil
import sys


class Screen:
    def __init__(self):
        self.moves = sys.stdout.isatty()

    def line(self, text):
        self.clear()
        print(text, flush=True)

    def progress(self, text):
        if self.moves:
            width = shutil.get_terminal_size().columns - 1
            print("\r\033[K" + text[:width], end="", flush=True)

    def clear(self):
        if self.moves:
            print("\r\033[K", end="")
