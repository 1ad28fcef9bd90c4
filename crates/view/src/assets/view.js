// State of the page, what keys and mouse do, and what is asked of the server.

import { AXIS, LABELS, colourOf, drawAxis, drawPane, number, stateColours } from './draw.js';
import { Panels } from './panels.js';

const $ = id => document.getElementById(id);
const canvas = $('canvas'), g = canvas.getContext('2d');
const view = { from: 0, to: 1, rowHeight: 20, by: 'state', dark: false, chosen: null };
let info = null, panes = [], panels = null, search = { text: '', event: null, pane: 0 };

async function ask(path, values = {}) {
  const query = new URLSearchParams(values).toString();
  const answer = await fetch(path + (query ? '?' + query : ''));
  if (!answer.ok) throw new Error(await answer.text());
  return answer.json();
}

function say(text) { $('message').textContent = text; }

async function start() {
  info = await ask('api/info');
  panes = info.traces.map((trace, i) => prepare(trace, i));
  if (panes.length === 2) { panes[0].otherCycles = panes[1].trace.cycles; panes[1].otherCycles = panes[0].trace.cycles; }
  const one = t => `${t.program} on ${t.machine} (${t.mechanism}), ${number(t.cycles)} ${t.timed ? 'cycles' : 'wave-instructions'}`;
  $('title').textContent = info.traces.map(one).join('  against  ');
  document.title = info.traces.map(t => t.program).join(' | ') + ' – Wavebound';
  view.to = Math.max(...info.traces.map(t => t.cycles), 1);
  view.dark = matchMedia('(prefers-color-scheme: dark)').matches;
  theme();
  const rows = Math.max(...info.traces.map(t => t.rows.length), 1);
  const room = (canvas.clientHeight - AXIS) / panes.length - 3;
  view.rowHeight = Math.max(4, Math.min(64, Math.floor(room / rows)));
  panels = new Panels(info, { ask, go, choose, say });
  restore();
  theme(); changed(); canvas.focus();
  const cut = info.traces.filter(t => t.cut || !t.complete);
  if (cut.length) say(cut.map(t => t.cut ? `${t.name}: ${t.cut}` : `${t.name}: the run did not end by itself`).join('; '));
}

function prepare(trace, number) {
  trace.byPc = new Map(trace.code.map(c => [c.pc, c]));
  trace.rowOf = new Map(trace.rows.map(([core, slot], i) => [core + '/' + slot, i]));
  trace.lineNumber = new Map();
  for (const c of trace.code) {
    const key = c.file + ':' + c.line;
    if (c.line > 0 && !trace.lineNumber.has(key)) trace.lineNumber.set(key, trace.lineNumber.size);
  }
  return { trace, number, top: 0, tile: null, lead: null, asking: false, stale: true };
}

// ---- drawing

const colours = () => {
  const style = getComputedStyle(document.documentElement);
  const get = name => style.getPropertyValue('--' + name).trim();
  return Object.fromEntries(['fg', 'soft', 'bg', 'card', 'line', 'accent', 'good', 'bad'].map(n => [n, get(n)]));
};

let frame = 0;
function redraw() { if (!frame) frame = requestAnimationFrame(() => { frame = 0; draw(); }); }

function paneRange(i) {
  const height = canvas.clientHeight - AXIS;
  return [AXIS + Math.round(height * i / panes.length), AXIS + Math.round(height * (i + 1) / panes.length) - (i + 1 < panes.length ? 3 : 0)];
}

function draw() {
  const scale = window.devicePixelRatio || 1, width = canvas.clientWidth, height = canvas.clientHeight;
  if (canvas.width !== Math.round(width * scale) || canvas.height !== Math.round(height * scale)) {
    canvas.width = Math.round(width * scale); canvas.height = Math.round(height * scale);
  }
  g.setTransform(scale, 0, 0, scale, 0, 0);
  const css = colours();
  g.fillStyle = css.line; g.fillRect(0, 0, width, height);
  panes.forEach((pane, i) => { const [y0, y1] = paneRange(i); drawPane(g, view, pane, y0, y1, width, css); });
  drawAxis(g, view, width, css);
  if (marking) {
    g.fillStyle = css.accent; g.globalAlpha = 0.2;
    g.fillRect(Math.min(marking.x0, marking.x1), AXIS, Math.abs(marking.x1 - marking.x0), height); g.globalAlpha = 1;
  }
  const span = view.to - view.from;
  $('status').textContent = `cycles ${number(view.from)} to ${number(view.to)} (${number(span)}); ` +
    panes.map(p => p.tile ? (p.tile.mode === 'spans' ? 'every cycle' : `${number(p.tile.width)} cycles a column`) : '…').join(', ');
  canvas.dataset.mode = panes.map(p => p.tile ? p.tile.mode : '').join(' ');
}

// ---- what is asked

function changed() {
  clamp(); redraw(); remember();
  panes.forEach(pane => { pane.stale = true; fetchTile(pane); });
}

function clamp() {
  const end = Math.max(...panes.map(p => p.trace.cycles), 1);
  const span = Math.min(Math.max(view.to - view.from, 8), end * 1.05 + 8);
  view.from = Math.min(Math.max(view.from, -span * 0.02), Math.max(end * 1.02 - span, 0)); view.to = view.from + span;
  panes.forEach((pane, i) => {
    const [y0, y1] = paneRange(i);
    pane.top = Math.max(0, Math.min(pane.top, pane.trace.rows.length * view.rowHeight - (y1 - y0)));
  });
}

async function fetchTile(pane) {
  if (pane.asking || !pane.stale) return;
  pane.asking = true; pane.stale = false;
  const span = view.to - view.from, [y0, y1] = paneRange(pane.number);
  const from = Math.max(0, Math.floor(view.from - span * 0.25)), to = Math.max(from + 1, Math.ceil(view.to + span * 0.25));
  const first = Math.max(0, Math.floor(pane.top / view.rowHeight) - 4);
  const last = Math.ceil((pane.top + y1 - y0) / view.rowHeight) + 4;
  const columns = Math.round((canvas.clientWidth - LABELS) * 1.5);
  try {
    const began = performance.now();
    pane.tile = await ask('api/tile', { trace: pane.number, from, to, first, last, columns });
    canvas.dataset.answered = Math.round(performance.now() - began);
    if (panes.length === 2) pane.lead = await ask('api/lead', { trace: pane.number, from, to, first, last });
  } catch (error) { say(String(error.message || error)); }
  pane.asking = false;
  redraw();
  if (pane.stale) fetchTile(pane);
}

// ---- the view in the address

function remember() {
  const c = view.chosen;
  const parts = { from: Math.round(view.from), to: Math.round(view.to), rows: view.rowHeight, by: view.by, dark: view.dark ? 1 : 0,
    top: panes.map(p => Math.round(p.top)).join('.') };
  if (c) parts.at = [c.trace, c.core, c.slot, c.cycle, c.lane ?? '', c.path ?? ''].join('.');
  history.replaceState(null, '', '#' + new URLSearchParams(parts));
}

function restore() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const get = (name, use) => { const n = Number(parts.get(name)); if (parts.has(name) && Number.isFinite(n)) use(n); };
  get('from', n => view.from = n); get('to', n => view.to = Math.max(n, view.from + 1)); get('rows', n => view.rowHeight = Math.min(Math.max(n, 2), 400));
  get('dark', n => view.dark = n === 1);
  if (parts.has('by') && [...$('colour').options].some(o => o.value === parts.get('by'))) view.by = parts.get('by');
  (parts.get('top') || '').split('.').forEach((t, i) => { if (panes[i] && Number.isFinite(Number(t))) panes[i].top = Number(t); });
  $('colour').value = view.by;
  const at = (parts.get('at') || '').split('.');
  const optional = text => text === '' ? undefined : Number(text);
  if (at.length === 6) choose({ trace: +at[0], core: +at[1], slot: +at[2], cycle: +at[3], lane: optional(at[4]), path: optional(at[5]) });
}

// ---- choosing

// Chooses a place: the panels show its instruction.
async function choose(place) {
  view.chosen = place;
  if (!place) { panels.show(null); changed(); return; }
  const values = { trace: place.trace, core: place.core, slot: place.slot, cycle: place.cycle };
  if (place.path !== undefined) values.path = place.path;
  else if (place.lane !== undefined) values.lane = place.lane;
  try {
    const answer = await ask('api/at', values);
    if (answer) { place.from = answer.from; place.to = answer.to; place.answer = answer; }
    panels.show(place);
  } catch (error) { say(String(error.message || error)); }
  redraw(); remember();
}

// Brings a place into sight and chooses it.
function go(place) {
  const pane = panes[place.trace];
  const span = view.to - view.from;
  if (place.cycle < view.from + span * 0.05 || place.cycle > view.to - span * 0.05) { view.from = place.cycle - span / 2; view.to = view.from + span; }
  const row = pane.trace.rowOf.get(place.core + '/' + place.slot), [y0, y1] = paneRange(place.trace);
  if (row !== undefined) {
    const y = row * view.rowHeight;
    if (y < pane.top || y + view.rowHeight > pane.top + y1 - y0) pane.top = y - (y1 - y0) / 2;
  }
  changed();
  return choose(place);
}

// What is under the pointer.
function under(x, y) {
  if (x < LABELS || y < AXIS) return null;
  const i = panes.findIndex((_, n) => { const [y0, y1] = paneRange(n); return y >= y0 && y < y1; });
  if (i < 0) return null;
  const pane = panes[i], [y0] = paneRange(i);
  const row = Math.floor((y - y0 + pane.top) / view.rowHeight);
  if (row < 0 || row >= pane.trace.rows.length) return null;
  const [core, slot] = pane.trace.rows[row];
  const gap = view.rowHeight >= 8 ? Math.max(1, Math.round(view.rowHeight / 12)) : 0;
  const inside = (y - y0 + pane.top) - row * view.rowHeight;
  const lane = Math.min(pane.trace.lanes - 1, Math.floor(inside / (view.rowHeight - gap) * pane.trace.lanes));
  const cycle = Math.floor(view.from + (x - LABELS) / (canvas.clientWidth - LABELS) * (view.to - view.from));
  if (cycle < 0 || cycle >= pane.trace.cycles) return null;
  return { trace: i, core, slot, cycle, lane, row };
}

function tipText(place) {
  const pane = panes[place.trace], tile = pane.tile;
  const head = `core ${place.core}, slot ${place.slot}, lane ${place.lane}, cycle ${number(place.cycle)}`;
  const spans = tile && tile.rows[place.row - tile.first_row];
  if (!spans) return head;
  const name = pc => { const c = pane.trace.byPc.get(pc); return c ? c.text + (c.line > 0 ? `\n${c.file}:${c.line}` : '') : ''; };
  if (tile.mode === 'spans') {
    for (let i = spans.length - 8; i >= 0; i -= 8) {
      const [from, to, low, high, pc, wave, path, state] = spans.slice(i, i + 8);
      const on = place.lane < 32 ? (low >>> place.lane) & 1 : (high >>> (place.lane - 32)) & 1;
      if (on && place.cycle >= from && place.cycle < to) {
        return `${head}\nwave ${wave}${path ? ', path ' + path : ''}: ${info.states[state]}, cycles ${number(from)} to ${number(to - 1)}\n${name(pc)}`;
      }
    }
    return head + '\nnot in any running path';
  }
  let cycle = tile.start;
  for (let i = 0; i < spans.length; i += 5) {
    cycle += spans[i] * tile.width;
    if (place.cycle < cycle) {
      if (spans[i + 1] < 0) return head + '\nempty';
      return `${head}\nmostly ${info.states[spans[i + 1]]}; work in ${Math.round(spans[i + 2] / 2.55)} % of the lane-cycles\n${name(spans[i + 4])}`;
    }
  }
  return head;
}

// ---- mouse

let drag = null, marking = null;
canvas.addEventListener('pointerdown', e => {
  canvas.focus(); canvas.setPointerCapture(e.pointerId);
  drag = { x: e.offsetX, y: e.offsetY, from: view.from, to: view.to, tops: panes.map(p => p.top), moved: false };
  if (e.shiftKey) marking = { x0: e.offsetX, x1: e.offsetX };
});
canvas.addEventListener('pointermove', e => {
  const tip = $('tip');
  if (!drag) {
    const place = info && under(e.offsetX, e.offsetY);
    tip.hidden = !place;
    if (place) {
      tip.textContent = tipText(place);
      tip.style.left = Math.min(e.offsetX + 14, canvas.clientWidth - tip.offsetWidth - 6) + 'px';
      tip.style.top = Math.min(e.offsetY + 14, canvas.clientHeight - tip.offsetHeight - 6) + 'px';
    }
    return;
  }
  tip.hidden = true;
  if (Math.abs(e.offsetX - drag.x) + Math.abs(e.offsetY - drag.y) > 4) drag.moved = true;
  if (marking) { marking.x1 = e.offsetX; redraw(); return; }
  if (!drag.moved) return;
  const moved = (drag.x - e.offsetX) / (canvas.clientWidth - LABELS) * (drag.to - drag.from);
  view.from = drag.from + moved; view.to = drag.to + moved;
  panes.forEach((p, i) => { p.top = drag.tops[i] + drag.y - e.offsetY; });
  changed();
});
canvas.addEventListener('pointerup', e => {
  if (marking && Math.abs(marking.x1 - marking.x0) > 4) {
    const cycle = x => view.from + (x - LABELS) / (canvas.clientWidth - LABELS) * (view.to - view.from);
    const [a, b] = [cycle(marking.x0), cycle(marking.x1)].sort((p, q) => p - q);
    view.from = a; view.to = b; changed();
  } else if (drag && !drag.moved) {
    const place = under(e.offsetX, e.offsetY);
    if (place) choose(place);
  }
  drag = null; marking = null; redraw();
});
canvas.addEventListener('pointerleave', () => { $('tip').hidden = true; });
canvas.addEventListener('wheel', e => {
  e.preventDefault();
  if (e.shiftKey || Math.abs(e.deltaX) > Math.abs(e.deltaY)) {
    panes.forEach(p => { p.top += e.shiftKey ? (e.deltaY || e.deltaX) : 0; });
    if (!e.shiftKey) { const by = e.deltaX / 800 * (view.to - view.from); view.from += by; view.to += by; }
    changed(); return;
  }
  zoom(Math.pow(1.0018, e.deltaY), Math.max(0, (e.offsetX - LABELS) / (canvas.clientWidth - LABELS)));
}, { passive: false });

// Around a place of the picture; by key around what is chosen, if that is in sight.
function zoom(factor, at) {
  const span = view.to - view.from;
  if (at === undefined) {
    const chosen = view.chosen ? (view.chosen.cycle - view.from) / span : -1;
    at = chosen >= 0 && chosen <= 1 ? chosen : 0.5;
  }
  const middle = view.from + at * span, end = Math.max(...panes.map(p => p.trace.cycles), 1);
  const wide = Math.min(Math.max(span * factor, 8), end * 1.05 + 8);
  view.from = middle - at * wide; view.to = view.from + wide; changed();
}

function pan(part) { const by = part * (view.to - view.from); view.from += by; view.to += by; changed(); }

// ---- keys, buttons, search

function whole() { view.from = 0; view.to = Math.max(...panes.map(p => p.trace.cycles), 1); panes.forEach(p => { p.top = 0; }); changed(); }

async function find(back) {
  const text = $('query').value.trim(), pane = view.chosen ? view.chosen.trace : 0;
  if (!text) { $('query').focus(); return; }
  if (text !== search.text || pane !== search.pane) search = { text, event: null, pane };
  const values = { trace: pane, for: text, cycle: Math.max(0, Math.round(view.chosen ? view.chosen.cycle : view.from)), way: back ? 'back' : 'on' };
  if (search.event !== null) values.event = search.event;
  try {
    const found = await ask('api/find', values);
    if (!found) { say(`no ${back ? 'earlier' : 'later'} place for “${text}”`); return; }
    search.event = found.event;
    say(`wave ${found.wave}, cycle ${number(found.cycle)}`);
    go({ trace: pane, core: found.core, slot: found.slot, cycle: found.cycle, path: text.startsWith('wave') ? undefined : found.path });
  } catch (error) { say(String(error.message || error)); }
}

function theme() {
  document.documentElement.classList.toggle('dark', view.dark);
  $('theme').textContent = view.dark ? 'light' : 'dark';
  legend(); redraw();
}

function legend() {
  const box = $('legend');
  box.replaceChildren();
  const entry = (colour, text) => {
    const span = document.createElement('span'), i = document.createElement('i');
    i.style.background = colour; span.append(i, text); box.append(span);
  };
  const trace = panes[0] && panes[0].trace;
  if (view.by === 'state') info.states.forEach((s, i) => entry(stateColours(view.dark)[i], i === 0 ? 'work' : 'waits: ' + s));
  else if (view.by === 'unit') trace.units.forEach((u, i) => {
    const code = trace.code.find(c => c.unit === i);
    if (code) entry(colourOf(view, trace, 0, code.pc, 0, 0), u);
  });
  else if (view.by === 'line') {
    const all = [...trace.lineNumber.keys()];
    all.slice(0, 24).forEach(key => { const c = trace.code.find(c => c.file + ':' + c.line === key); entry(colourOf(view, trace, 0, c.pc, 0, 0), 'line ' + c.line); });
    if (all.length > 24) entry('transparent', `and ${all.length - 24} more`);
    if (!all.length) entry('transparent', 'the program does not say which lines it comes from');
  } else entry('transparent', `one colour for each ${view.by}; waiting is pale`);
  if (panes.length === 2) { entry('var(--good)', 'strip: ahead of the other run'); entry('var(--bad)', 'behind it'); }
}

$('colour').addEventListener('change', e => { view.by = e.target.value; legend(); changed(); canvas.focus(); });
$('theme').addEventListener('click', () => { view.dark = !view.dark; theme(); remember(); });
$('whole').addEventListener('click', whole);
$('keys').addEventListener('click', () => $('help').showModal());
$('search').addEventListener('submit', e => { e.preventDefault(); find(false); });
$('back').addEventListener('click', () => find(true));
$('query').addEventListener('keydown', e => {
  if (e.key === 'Enter' && e.shiftKey) { e.preventDefault(); find(true); }
  if (e.key === 'Escape') canvas.focus();
});

function step(way) {
  const c = view.chosen, issued = c && c.answer && c.answer.issued;
  const cycle = issued && issued[way];
  if (cycle === undefined || cycle === null) { say('choose an instruction first'); return; }
  go({ trace: c.trace, core: c.core, slot: c.slot, cycle, path: c.answer.path });
}

const KEYS = {
  w: () => zoom(0.6), s: () => zoom(1 / 0.6), '+': () => zoom(0.6), '=': () => zoom(0.6), '-': () => zoom(1 / 0.6),
  a: () => pan(-0.2), d: () => pan(0.2), ArrowLeft: () => pan(-0.2), ArrowRight: () => pan(0.2),
  ArrowUp: () => { panes.forEach(p => { p.top -= 60; }); changed(); }, ArrowDown: () => { panes.forEach(p => { p.top += 60; }); changed(); },
  '[': () => { view.rowHeight = Math.max(2, Math.round(view.rowHeight / 1.3)); changed(); },
  ']': () => { view.rowHeight = Math.min(400, Math.round(view.rowHeight * 1.3) + 1); changed(); },
  Home: whole, '/': () => { $('query').focus(); $('query').select(); }, n: () => find(false), N: () => find(true),
  ',': () => step('before'), '.': () => step('after'), t: () => { view.dark = !view.dark; theme(); remember(); },
  c: () => { const o = $('colour'); o.selectedIndex = (o.selectedIndex + 1) % o.options.length; view.by = o.value; legend(); changed(); },
  Escape: () => choose(null), '?': () => $('help').showModal(),
};
document.addEventListener('keydown', e => {
  if (!info || e.ctrlKey || e.metaKey || e.altKey || e.target.matches('input, select, dialog, dialog *')) return;
  const act = KEYS[e.key];
  if (act) { e.preventDefault(); act(); }
});
new ResizeObserver(() => { if (info) changed(); }).observe(canvas);
start().catch(error => say(String(error.message || error)));
