"""The viewer in a real browser: loads, zooms, clicks, searches, compares, restores a view; screenshots go to the folder that is given.

usage: browser.py WAVEBOUND FOLDER
"""

import json
import pathlib
import re
import subprocess
import sys
import urllib.error
import urllib.request

from playwright.sync_api import sync_playwright

KERNEL = """\
.kernel sides
.arg buf x
  s_load_dwordx2 s[4:5], s[0:1], 0x0
  v_lshlrev_b32 v1, 2, v0
  v_and_b32 v7, 1, v0
  s_waitcnt lgkmcnt(0)
  v_mov_b32 v3, s5
  v_add_u32 v2, vcc, s4, v1
  v_addc_u32 v3, vcc, 0, v3, vcc
  flat_load_dword v4, v[2:3]
  s_waitcnt vmcnt(0)
  v_cmp_eq_u32 vcc, 0, v7
  s_and_saveexec_b64 s[6:7], vcc
  s_xor_b64 s[6:7], exec, s[6:7]
  s_cbranch_execz flow
""" + "  v_mul_f32 v5, v4, v4\n" * 12 + """\
flow:
  s_or_saveexec_b64 s[6:7], s[6:7]
  s_xor_b64 exec, exec, s[6:7]
  s_cbranch_execz join
""" + "  v_add_f32 v5, v4, v4\n" * 12 + """\
join:
  s_or_b64 exec, exec, s[6:7]
  flat_store_dword v[2:3], v5
  s_endpgm
"""


class Viewer:
    """A viewer that runs while the block does."""

    def __init__(self, *command):
        self.command = command

    def __enter__(self):
        self.process = subprocess.Popen(self.command, stdout=subprocess.PIPE, text=True)
        self.url = self.process.stdout.readline().strip()
        assert re.fullmatch(r"http://127\.0\.0\.1:\d+/[0-9a-f]{32}/", self.url), self.url
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(timeout=10)


def refused(url, headers={}, method="GET"):
    """The status of a request that must not be answered."""
    try:
        with urllib.request.urlopen(urllib.request.Request(url, headers=headers, method=method), timeout=10) as answer:
            return answer.status
    except urllib.error.HTTPError as error:
        return error.code


def span(page):
    """Cycles in sight, from the line at the bottom."""
    text = page.locator("#status").inner_text()
    return int(re.sub(r"\D", "", re.search(r"\(([^)]*)\)", text).group(1)))


def wait(page, expression, argument=None):
    """Waits until an expression holds. (Playwright's own way to do this is forbidden by the page's security policy.)"""
    for _ in range(150):
        if page.evaluate(f"argument => Boolean({expression})", argument):
            return
        page.wait_for_timeout(100)
    raise AssertionError(f"it never came true: {expression}")


def settled(page):
    """Waits until an answer to the last change is drawn."""
    page.wait_for_timeout(400)
    wait(page, "document.getElementById('canvas').dataset.mode.trim() !== ''")


def colours(page):
    """How many different colours the picture has."""
    return page.evaluate(
        """() => { const c = document.getElementById('canvas'), d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;
        const all = new Set(); for (let i = 0; i < d.length; i += 4 * 7) all.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2]); return all.size; }"""
    )


def main():
    wavebound, folder = sys.argv[1], pathlib.Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    kernel = folder / "sides.s"
    kernel.write_text(KERNEL)
    for mechanism, more in (("none", []), ("pws", ["--split-all", "--s", "1"])):
        subprocess.run(
            [wavebound, "run", str(kernel), *HOW, "--mechanism", mechanism, *more, "--trace", str(folder / f"{mechanism}.wbt"), "--trace-memory"],
            check=True,
            stdout=subprocess.DEVNULL,
        )
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=["--no-sandbox"])
        tests = [one_trace, two_traces, a_run]
        for test in tests:
            test(browser, wavebound, folder)
        browser.close()
    print(f"{len(tests)} passed, 0 failed")


def open_page(browser, url, scheme="light"):
    page = browser.new_page(viewport={"width": 1280, "height": 760}, color_scheme=scheme)
    wrong = []
    page.on("pageerror", lambda error: wrong.append(str(error)))
    page.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    page.on("request", lambda request: wrong.append(request.url) if not request.url.startswith("http://127.0.0.1:") else None)
    page.goto(url)
    wait(page, "document.getElementById('title').textContent.includes(' on ')")
    settled(page)
    return page, wrong


HOW = ["--grid", "512", "--group", "128", "--arg", "buf:f32:512:iota"]


def one_trace(browser, wavebound, folder):
    with Viewer(wavebound, "view", str(folder / "none.wbt"), "--source", str(folder)) as viewer:
        base = viewer.url.rsplit("/", 2)[0]
        # Without the secret, with a wrong one, through another name, and with anything but reading.
        assert refused(base + "/") == 403
        assert refused(base + "/" + "0" * 32 + "/api/info") == 403
        assert refused(viewer.url, {"Host": "example.com"}) == 403
        assert refused(viewer.url + "api/info", method="POST") == 405
        assert refused(viewer.url + "../etc/passwd") in (403, 404)
        assert refused(viewer.url + "api/tile?trace=9&from=0&to=1&first=0&last=1&columns=5") == 404
        page, wrong = open_page(browser, viewer.url)
        info = json.loads(urllib.request.urlopen(viewer.url + "api/info").read())
        cycles = info["traces"][0]["cycles"]
        assert abs(span(page) - cycles) <= cycles // 10 + 8, (span(page), cycles)
        assert colours(page) > 5, "nothing is drawn"
        page.screenshot(path=folder / "whole.png")
        # Zoom by wheel around a point, by key, and back.
        box = page.locator("#canvas").bounding_box()
        page.mouse.move(box["x"] + 600, box["y"] + 100)
        page.mouse.wheel(0, -600)
        settled(page)
        zoomed = span(page)
        assert zoomed < cycles * 0.6, (zoomed, cycles)
        page.keyboard.press("w")
        settled(page)
        assert span(page) < zoomed
        page.keyboard.press("Home")
        settled(page)
        assert abs(span(page) - cycles) <= cycles // 10 + 8
        # Search: an instruction by text; its panel says what it is, and the address restores it.
        page.fill("#query", "flat_load_dword")
        page.keyboard.press("Enter")
        page.wait_for_selector("#chosen-text")
        settled(page)
        panel = page.locator("#instruction").inner_text()
        assert "flat_load_dword v4" in panel and "v4" in panel, panel
        assert "Memory (data)" in panel and "0x" in panel.split("Memory (data)")[1], panel
        # The instruction that uses the loaded value waited for it.
        page.fill("#query", "s_waitcnt vmcnt(0)")
        page.keyboard.press("Enter")
        wait(page, "document.getElementById('chosen-text')?.textContent.includes('vmcnt')")
        panel = page.locator("#instruction").inner_text()
        assert "memory:" in panel and "flat_load_dword" in panel, panel
        page.click("#tabs button[data-tab=source]")
        assert "s_waitcnt vmcnt(0)" in page.locator("#source tr.here").inner_text()
        page.click("#tabs button[data-tab=assembly]")
        assert "s_waitcnt vmcnt(0)" in page.locator("#assembly tr.here").inner_text()
        page.click("#tabs button[data-tab=flow]")
        page.wait_for_selector("#flow svg .node.here")
        page.screenshot(path=folder / "flow.png")
        link = page.url
        assert "at=" in link
        other, wrong_too = open_page(browser, link)
        wait(other, "document.getElementById('chosen-text')?.textContent.includes('vmcnt')")
        other.close()
        # A click on a lane: the lane's own path. Zoom in until single cycles are drawn.
        page.keyboard.press("Escape")
        page.click("#tabs button[data-tab=instruction]")
        page.fill("#query", "wave 1")
        page.keyboard.press("Enter")
        page.wait_for_selector("#chosen-text")
        settled(page)
        assert re.search(r"wave\s+1 in slot", page.locator("#instruction").inner_text())
        page.locator("#canvas").focus()
        before = page.locator("#instruction").inner_text()
        page.keyboard.press(".")
        wait(page, "document.getElementById('instruction').innerText !== argument", before)
        for _ in range(12):
            page.keyboard.press("w")
        settled(page)
        assert page.locator("#canvas").get_attribute("data-mode") == "spans"
        page.select_option("#colour", "line")
        settled(page)
        page.screenshot(path=folder / "lines.png")
        page.mouse.click(box["x"] + 640, box["y"] + 60)
        page.mouse.move(box["x"] + 642, box["y"] + 62)
        wait(page, "!document.getElementById('tip').hidden")
        assert "core 0" in page.locator("#tip").inner_text()
        page.keyboard.press("t")
        assert page.evaluate("document.documentElement.classList.contains('dark')")
        page.screenshot(path=folder / "dark.png")
        page.fill("#query", "nothing like this")
        page.keyboard.press("Enter")
        wait(page, "document.getElementById('message').textContent.includes('no instruction fits')")
        # Nothing was logged but the answers that say no.
        assert all("404" in text for text in wrong + wrong_too), wrong
        page.close()


def two_traces(browser, wavebound, folder):
    with Viewer(wavebound, "view", str(folder / "none.wbt"), "--with", str(folder / "pws.wbt")) as viewer:
        page, wrong = open_page(browser, viewer.url, "dark")
        assert " against " in page.locator("#title").inner_text()
        settled(page)
        lead = json.loads(urllib.request.urlopen(viewer.url + "api/lead?trace=1&from=0&to=100000&first=0&last=100").read())
        assert lead["waves"] and any(a != b for w in lead["waves"] for a, b in zip(w[2::2], w[3::2])), lead
        assert colours(page) > 5
        page.screenshot(path=folder / "compare.png")
        # Paths of a split wave run at the same time: a search chooses the one that it found.
        page.click("#tabs button[data-tab=instruction]")
        for text in ("v_add_f32", "v_mul_f32"):
            page.fill("#query", text)
            page.keyboard.press("Enter")
            wait(page, "document.getElementById('chosen-text')?.textContent.includes(argument)", text)
        assert not wrong, wrong
        page.close()


def a_run(browser, wavebound, folder):
    with Viewer(wavebound, "view", str(folder / "sides.s"), *HOW, "--mechanism", "pws", "--split-all", "--s", "1", "--against", "none") as viewer:
        page, wrong = open_page(browser, viewer.url)
        assert "(pws)" in page.locator("#title").inner_text() and "(none)" in page.locator("#title").inner_text()
        assert not wrong, wrong
        page.close()


main()
