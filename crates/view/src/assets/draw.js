// Draws rows of lanes over time on a canvas, from the tiles of the server.

export const LABELS = 92;
export const AXIS = 26;

// Work is strong, waiting is pale; in the order of the server's states.
const LIGHT = ['#2b6cb0', '#f7e7b0', '#f6cfa8', '#dccdf2', '#cfdbe6', '#f3c6d6', '#cfe8cf', '#bfe6e2', '#f2b8b0', '#e2e2e2'];
const DARK = ['#6aa9f0', '#5c5328', '#674526', '#4d3f66', '#3a4754', '#66394b', '#355238', '#2c5652', '#6b342d', '#3c3f44'];

export function stateColours(dark) { return dark ? DARK : LIGHT; }

function hue(n) { return Math.round((n * 137.508) % 360); }

// The colour of something done (or waited for) at an instruction.
export function colourOf(view, trace, state, pc, wave, path) {
  const { by, dark } = view;
  if (by === 'state') return stateColours(dark)[state] || '#888';
  const work = state === 0;
  const tone = n => n === undefined || n < 0 ? (dark ? '#3c3f44' : '#e2e2e2')
    : `hsl(${hue(n)} ${work ? 62 : 34}% ${dark ? (work ? 62 : 27) : (work ? 46 : 86)}%)`;
  const code = trace.byPc.get(pc);
  if (by === 'line') return tone(code && code.line > 0 ? trace.lineNumber.get(code.file + ':' + code.line) : -1);
  if (by === 'unit') return tone(code && code.unit !== 255 ? code.unit : -1);
  if (by === 'wave') return tone(wave);
  return tone(path);
}

// Runs of ones of a mask in two halves: calls each with the first lane and how many.
function lanes(low, high, each) {
  let start = -1;
  for (let i = 0; i <= 64; i++) {
    const on = i < 32 ? (low >>> i) & 1 : i < 64 ? (high >>> (i - 32)) & 1 : 0;
    if (on && start < 0) start = i;
    if (!on && start >= 0) { each(start, i - start); start = -1; }
  }
}

export function niceStep(span, pixels) {
  const rough = span / Math.max(1, pixels / 110);
  const power = Math.pow(10, Math.floor(Math.log10(Math.max(rough, 1e-9))));
  const step = [1, 2, 5, 10].find(m => m * power >= rough) * power;
  return Math.max(1, step);
}

export const number = n => Math.round(n).toLocaleString('en').replace(/,/g, '\u2009');

export function drawAxis(g, view, width, css) {
  g.fillStyle = css.card; g.fillRect(0, 0, width, AXIS);
  g.fillStyle = css.soft; g.strokeStyle = css.line; g.font = '11px system-ui, sans-serif'; g.textBaseline = 'middle';
  const step = niceStep(view.to - view.from, width - LABELS);
  const x = c => LABELS + (c - view.from) / (view.to - view.from) * (width - LABELS);
  g.textAlign = 'left'; g.fillText('cycle', 6, AXIS / 2);
  for (let c = Math.ceil(view.from / step) * step; c <= view.to; c += step) {
    g.fillRect(Math.round(x(c)), AXIS - 6, 1, 6);
    g.fillText(number(c), x(c) + 3, AXIS / 2 - 2);
  }
}

// One pane: the rows of one trace between y0 and y1.
export function drawPane(g, view, pane, y0, y1, width, css) {
  const { trace, tile } = pane;
  const plot = width - LABELS, span = view.to - view.from;
  const x = c => LABELS + (c - view.from) / span * plot;
  const height = view.rowHeight, gap = height >= 8 ? Math.max(1, Math.round(height / 12)) : 0;
  g.save();
  g.beginPath(); g.rect(0, y0, width, y1 - y0); g.clip();
  g.fillStyle = css.bg; g.fillRect(0, y0, width, y1 - y0);
  const first = Math.max(0, Math.floor(pane.top / height)), last = Math.min(trace.rows.length, Math.ceil((pane.top + y1 - y0) / height));
  g.save();
  g.beginPath(); g.rect(LABELS, y0, plot, y1 - y0); g.clip();
  for (let row = first; row < last; row++) {
    const y = y0 + row * height - pane.top, h = height - gap;
    if (!tile) continue;
    const at = row - tile.first_row;
    if (at < 0 || at >= tile.rows.length) continue;
    if (tile.mode === 'spans') {
      const waves = tile.waves[at] || [];
      for (let i = 0; i < waves.length; i += 5) {
        const a = x(Math.max(waves[i], view.from)), b = x(Math.min(waves[i + 1], view.to));
        g.fillStyle = css.card;
        lanes(waves[i + 3], waves[i + 4], (lane, n) => g.fillRect(a, y + lane * h / trace.lanes, b - a, n * h / trace.lanes));
      }
      const spans = tile.rows[at];
      for (let i = 0; i < spans.length; i += 8) {
        if (spans[i + 1] <= view.from || spans[i] >= view.to) continue;
        const a = x(spans[i]), b = Math.max(x(spans[i + 1]), a + 0.4);
        const seam = b - a > 6 && height >= 8 ? 0.6 : 0;
        g.fillStyle = colourOf(view, trace, spans[i + 7], spans[i + 4], spans[i + 5], spans[i + 6]);
        lanes(spans[i + 2], spans[i + 3], (lane, n) => g.fillRect(a, y + lane * h / trace.lanes, b - a - seam, n * h / trace.lanes));
      }
    } else {
      const runs = tile.rows[at];
      let cycle = tile.start;
      for (let i = 0; i < runs.length; i += 5) {
        const end = cycle + runs[i] * tile.width;
        if (runs[i + 1] >= 0 && end > view.from && cycle < view.to) {
          const a = Math.floor(x(cycle)), b = Math.max(Math.ceil(x(end)), a + 1);
          const all = h * runs[i + 3] / 255, work = h * runs[i + 2] / 255;
          g.fillStyle = css.card; g.fillRect(a, y, b - a, h);
          g.fillStyle = colourOf(view, trace, runs[i + 1] === 0 ? 9 : runs[i + 1], runs[i + 4], -1, -1); g.fillRect(a, y + h - all, b - a, all);
          g.fillStyle = colourOf(view, trace, 0, runs[i + 4], -1, -1); g.fillRect(a, y + h - work, b - a, work);
        }
        cycle = end;
      }
    }
    // Names of waves where they fit.
    if (tile.mode === 'spans' && height >= 14) {
      const waves = tile.waves[at] || [];
      g.font = '10px system-ui, sans-serif'; g.textBaseline = 'top'; g.textAlign = 'left';
      for (let i = 0; i < waves.length; i += 5) {
        const a = x(Math.max(waves[i], view.from)), b = x(Math.min(waves[i + 1], view.to));
        const text = 'wave ' + waves[i + 2];
        if (b - a < 60) continue;
        const w = g.measureText(text).width + 6;
        g.globalAlpha = 0.8; g.fillStyle = css.bg; g.fillRect(a + 2, y + 1, w, 12); g.globalAlpha = 1;
        g.fillStyle = css.fg; g.fillText(text, a + 5, y + 2);
      }
    }
  }
  drawLead(g, pane, view, x, y0, height, css);
  const end = x(trace.cycles);
  if (end < width) { g.fillStyle = css.soft; g.fillRect(Math.round(end), y0, 1, y1 - y0); }
  if (pane.otherCycles !== undefined && pane.otherCycles !== trace.cycles) {
    const other = x(pane.otherCycles);
    g.fillStyle = css.bad;
    for (let y = y0; y < y1; y += 8) g.fillRect(Math.round(other), y, 1, 4);
  }
  drawChosen(g, pane, view, x, y0, height, gap, css);
  g.restore();
  drawLabels(g, pane, first, last, y0, height, css);
  g.restore();
}

// Under every row: green where this run is ahead of the other one, red where it is behind.
function drawLead(g, pane, view, x, y0, height, css) {
  if (!pane.lead || height < 5) return;
  const strip = Math.max(2, Math.min(5, height / 5));
  for (const [row, , ...pairs] of pane.lead.waves) {
    const y = y0 + (row + 1) * height - pane.top - strip;
    for (let i = 0; i + 3 < pairs.length; i += 2) {
      const ahead = pairs[i + 3] - pairs[i + 2];
      if (ahead === 0) continue;
      g.globalAlpha = Math.min(1, 0.35 + 2 * Math.abs(ahead) / Math.max(1, pane.trace.cycles));
      g.fillStyle = ahead > 0 ? css.good : css.bad;
      g.fillRect(x(pairs[i]), y, Math.max(0.5, x(pairs[i + 2]) - x(pairs[i])), strip);
    }
  }
  g.globalAlpha = 1;
}

function drawChosen(g, pane, view, x, y0, height, gap, css) {
  const c = view.chosen;
  if (!c || c.trace !== pane.number) return;
  const row = pane.trace.rowOf.get(c.core + '/' + c.slot);
  if (row === undefined) return;
  const y = y0 + row * height - pane.top;
  const from = c.from ?? c.cycle, to = c.to ?? c.cycle + 1;
  g.strokeStyle = css.accent; g.lineWidth = 2;
  g.strokeRect(x(from) - 1, y - 1, Math.max(3, x(to) - x(from)) + 2, height - gap + 2);
  g.lineWidth = 1;
}

function drawLabels(g, pane, first, last, y0, height, css) {
  g.fillStyle = css.card; g.fillRect(0, y0, LABELS, 1e5);
  g.font = '11px system-ui, sans-serif'; g.textBaseline = 'middle'; g.textAlign = 'left';
  let before = -1;
  for (let row = first; row < last; row++) {
    const [core, slot] = pane.trace.rows[row];
    const y = y0 + row * height - pane.top;
    if (core !== before) {
      g.fillStyle = css.line; g.fillRect(0, Math.round(y), 1e5, 1);
      g.fillStyle = css.fg; g.fillText('core ' + core, 6, Math.max(y + Math.min(height, 14) / 2, y0 + 8));
    }
    before = core;
    if (height >= 11) { g.fillStyle = css.soft; g.textAlign = 'right'; g.fillText('slot ' + slot, LABELS - 6, y + Math.min(height / 2, 9)); g.textAlign = 'left'; }
  }
}
