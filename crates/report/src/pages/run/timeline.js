// Draws the timelines of the page: a band for each slot with its lanes from top to bottom, cycles from left to right. Nothing is
// loaded; colours are those of the page's style.
'use strict';
(function () {
  const LEFT = 74, TOP = 22;

  // The lanes of a mask as runs: first lane and how many.
  function runs(mask, lanes) {
    const out = [];
    const on = (lane) => ((lane < 32 ? mask[0] >>> lane : mask[1] >>> (lane - 32)) & 1) === 1;
    for (let lane = 0; lane < lanes; lane++) {
      if (!on(lane)) continue;
      const first = lane;
      while (lane + 1 < lanes && on(lane + 1)) lane++;
      out.push([first, lane - first + 1]);
    }
    return out;
  }

  // Distances between first cycles become cycles.
  function moments(flat) {
    const out = [];
    let at = 0;
    for (let i = 0; i < flat.length; i += 6) {
      at += flat[i];
      out.push({ from: at, to: at + flat[i + 1], state: flat[i + 2], pc: flat[i + 3], mask: flat[i + 4], path: flat[i + 5] });
    }
    return out;
  }

  function element(name, parent, text) {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    parent.appendChild(e);
    return e;
  }

  function setup(box) {
    const data = JSON.parse(document.getElementById(box.dataset.of).textContent);
    const masks = data.masks.map((m) => runs(m, data.lanes));
    const counts = masks.map((m) => m.reduce((n, r) => n + r[1], 0));
    const rows = data.slots.map((s) => ({ core: s.core, slot: s.slot, waves: s.waves, moments: moments(s.moments) }));
    const end = Math.max(1, data.to);
    const keys = element('div', box);
    keys.className = 'keys';
    const canvas = element('canvas', box);
    canvas.tabIndex = 0;
    canvas.setAttribute('role', 'img');
    canvas.setAttribute('aria-label', 'timeline: lanes of ' + rows.length + ' wave slots over ' + end + ' cycles');
    const tip = element('div', box);
    tip.className = 'tip';
    const paint = canvas.getContext('2d');
    const view = { from: 0, to: end, band: Math.max(13, Math.min(64, Math.floor(420 / Math.max(1, rows.length)))), y: 0 };
    let wide = 0, high = 0, waiting = false, drag = null;

    function colours() {
      const style = getComputedStyle(document.documentElement);
      const of = (name) => style.getPropertyValue(name).trim();
      return { states: data.states.map((_, i) => of('--s' + i)), fg: of('--fg'), soft: of('--soft'), line: of('--line'), card: of('--card'), bg: of('--bg') };
    }

    function resize() {
      const ratio = window.devicePixelRatio || 1;
      wide = Math.max(200, box.clientWidth - 2);
      high = Math.min(TOP + rows.length * view.band + 2, Math.max(160, Math.min(560, window.innerHeight * 0.7)));
      canvas.style.height = high + 'px';
      canvas.width = Math.round(wide * ratio);
      canvas.height = Math.round(high * ratio);
      paint.setTransform(ratio, 0, 0, ratio, 0, 0);
    }

    function limit() {
      const span = Math.max(8, Math.min(end, view.to - view.from));
      view.from = Math.max(0, Math.min(end - span, view.from));
      view.to = view.from + span;
      const room = Math.max(0, rows.length * view.band - (high - TOP));
      view.y = Math.max(0, Math.min(room, view.y));
    }

    // Called often, drawn once for each frame.
    function draw() {
      if (waiting) return;
      waiting = true;
      requestAnimationFrame(() => { waiting = false; drawNow(); });
    }

    function drawNow() {
      resize();
      limit();
      const c = colours();
      const scale = (wide - LEFT) / (view.to - view.from);
      const x = (cycle) => LEFT + (cycle - view.from) * scale;
      paint.fillStyle = c.bg;
      paint.fillRect(0, 0, wide, high);
      paint.font = '11px system-ui, sans-serif';
      paint.save();
      paint.beginPath();
      paint.rect(0, TOP, wide, high - TOP);
      paint.clip();
      rows.forEach((row, i) => {
        const top = TOP + i * view.band - view.y;
        if (top > high || top + view.band < TOP) return;
        const gap = view.band > 14 ? 2 : 1, lane = (view.band - gap) / data.lanes;
        paint.save();
        paint.beginPath();
        paint.rect(LEFT, top, wide - LEFT, view.band);
        paint.clip();
        paint.fillStyle = c.card;
        for (let w = 0; w < row.waves.length; w += 3) {
          const a = x(row.waves[w]), b = x(row.waves[w + 1]);
          if (b >= LEFT && a <= wide) paint.fillRect(a, top, Math.max(1, b - a), view.band - gap);
        }
        for (const m of row.moments) {
          if (m.to <= view.from || m.from >= view.to) continue;
          paint.fillStyle = c.states[m.state];
          const a = x(m.from), w = Math.max(0.6, (m.to - m.from) * scale);
          for (const run of masks[m.mask]) paint.fillRect(a, top + run[0] * lane, w, Math.max(0.5, run[1] * lane));
        }
        paint.restore();
        if (view.band >= 12) {
          paint.fillStyle = c.soft;
          paint.fillText('core ' + row.core + ' · ' + row.slot, 4, top + Math.min(view.band - gap, 14) - 3);
        }
      });
      paint.restore();
      axis(c, x);
    }

    function axis(c, x) {
      const span = view.to - view.from;
      let step = Math.pow(10, Math.floor(Math.log10(span / 5)));
      if (span / step > 25) step *= 5; else if (span / step > 10) step *= 2;
      step = Math.max(1, step);
      paint.fillStyle = c.soft;
      paint.strokeStyle = c.line;
      paint.textAlign = 'center';
      for (let at = Math.ceil(view.from / step) * step; at <= view.to; at += step) {
        paint.fillText(at.toLocaleString('en').replace(/,/g, '\u202f'), Math.min(wide - 24, Math.max(LEFT, x(at))), 12);
        paint.beginPath();
        paint.moveTo(x(at), 15);
        paint.lineTo(x(at), TOP);
        paint.stroke();
      }
      paint.textAlign = 'left';
      paint.fillText('cycle', 4, 12);
    }

    function zoom(factor, at) {
      const middle = at === undefined ? (view.from + view.to) / 2 : at;
      view.from = middle - (middle - view.from) * factor;
      view.to = middle + (view.to - middle) * factor;
      draw();
    }

    function taller(factor) {
      view.band = Math.max(6, Math.min(256, view.band * factor));
      draw();
    }

    function move(part) {
      const span = view.to - view.from;
      view.from += part * span;
      view.to = view.from + span;
      draw();
    }

    function all() {
      view.from = 0;
      view.to = end;
      view.y = 0;
      draw();
    }

    function place(e) {
      const r = canvas.getBoundingClientRect();
      const px = e.clientX - r.left, py = e.clientY - r.top;
      const cycle = view.from + (px - LEFT) / (wide - LEFT) * (view.to - view.from);
      const band = (py - TOP + view.y) / view.band, i = Math.floor(band);
      const lane = Math.min(data.lanes - 1, Math.floor((band - i) * data.lanes));
      return { px: px, py: py, cycle: cycle, row: px >= LEFT && py >= TOP ? rows[i] : undefined, lane: lane };
    }

    function found(p) {
      if (!p.row) return undefined;
      const cycle = Math.floor(p.cycle);
      const inside = (m) => m.from <= cycle && cycle < m.to;
      const on = (m) => masks[m.mask].some((r) => r[0] <= p.lane && p.lane < r[0] + r[1]);
      return p.row.moments.find((m) => inside(m) && on(m));
    }

    function tell(e) {
      const p = place(e);
      if (!p.row || p.cycle < 0 || p.cycle >= end) { tip.style.display = 'none'; return; }
      const cycle = Math.floor(p.cycle);
      let wave;
      for (let w = 0; w < p.row.waves.length; w += 3) {
        if (p.row.waves[w] <= cycle && cycle < p.row.waves[w + 1]) wave = p.row.waves[w + 2];
      }
      let text = 'cycle ' + cycle + ', core ' + p.row.core + ', slot ' + p.row.slot + '\n';
      const m = found(p);
      if (wave === undefined && !m) {
        text += 'no wave';
      } else {
        text += 'wave ' + wave + ', lane ' + p.lane + (m && m.path > 0 ? ', path ' + m.path : '') + '\n';
        if (m) {
          const code = data.code[m.pc] || ['', 'pc ' + m.pc, ''];
          text += data.states[m.state] + (m.state > 0 ? ', cycles ' + m.from + ' to ' + (m.to - 1) : '') + ', ' + counts[m.mask] + ' lanes\n';
          text += code[0] + '  ' + code[1] + (code[2] ? '\n' + code[2] : '');
        } else {
          text += 'off: not in the mask of a path, or ended';
        }
      }
      tip.textContent = text;
      tip.style.display = 'block';
      tip.style.left = Math.max(0, Math.min(p.px + 14, wide - tip.offsetWidth - 4)) + 'px';
      tip.style.top = (canvas.offsetTop + p.py + 18) + 'px';
    }

    canvas.addEventListener('wheel', (e) => {
      // The page scrolls unless the timeline was chosen.
      if (document.activeElement !== canvas && !e.ctrlKey) return;
      e.preventDefault();
      if (e.shiftKey) { view.y += e.deltaY || e.deltaX; draw(); } else zoom(e.deltaY > 0 ? 1.25 : 0.8, place(e).cycle);
    }, { passive: false });
    canvas.addEventListener('pointerdown', (e) => {
      canvas.focus({ preventScroll: true });
      canvas.setPointerCapture(e.pointerId);
      drag = { x: e.clientX, y: e.clientY, from: view.from, to: view.to, top: view.y, moved: false };
    });
    canvas.addEventListener('pointermove', (e) => {
      if (!drag) { tell(e); return; }
      const dx = e.clientX - drag.x, dy = e.clientY - drag.y;
      drag.moved = drag.moved || Math.abs(dx) + Math.abs(dy) > 4;
      const cycles = dx / (wide - LEFT) * (drag.to - drag.from);
      view.from = drag.from - cycles;
      view.to = drag.to - cycles;
      view.y = drag.top - dy;
      tip.style.display = 'none';
      draw();
    });
    canvas.addEventListener('pointerup', (e) => {
      const still = drag && !drag.moved;
      drag = null;
      const m = still ? found(place(e)) : undefined;
      if (m && e.detail !== 2) tell(e);
    });
    canvas.addEventListener('dblclick', (e) => {
      // To the instruction.
      const m = found(place(e));
      const row = m && document.getElementById(box.dataset.part + '-a' + m.pc);
      if (!row) return;
      for (let up = row.parentElement; up; up = up.parentElement) if (up.tagName === 'DETAILS') up.open = true;
      location.hash = row.id;
    });
    canvas.addEventListener('pointerleave', () => { tip.style.display = 'none'; });
    canvas.addEventListener('keydown', (e) => {
      const act = {
        '+': () => zoom(0.7), '=': () => zoom(0.7), '-': () => zoom(1.43), ArrowLeft: () => move(-0.15), ArrowRight: () => move(0.15),
        ArrowUp: () => { view.y -= view.band; draw(); }, ArrowDown: () => { view.y += view.band; draw(); },
        Home: all, '0': all, t: () => taller(1.3), s: () => taller(0.77),
      }[e.key];
      if (act && !e.ctrlKey && !e.metaKey && !e.altKey) { e.preventDefault(); act(); }
    });
    const button = (text, title, act) => {
      const b = element('button', keys, text);
      b.type = 'button';
      b.title = title;
      b.addEventListener('click', act);
    };
    button('+', 'zoom in (+)', () => zoom(0.6));
    button('−', 'zoom out (-)', () => zoom(1.67));
    button('all', 'the whole timeline (Home)', all);
    button('↕', 'taller bands (t)', () => taller(1.5));
    button('⇕', 'smaller bands (s)', () => taller(0.67));
    element('span', keys, 'Click it, then: wheel or + − zoom, drag or arrows move. A double click goes to the instruction.');
    // A part that is folded has no width yet.
    for (let up = box.parentElement; up; up = up.parentElement) {
      if (up.tagName === 'DETAILS') up.addEventListener('toggle', draw);
    }
    window.addEventListener('resize', draw);
    window.matchMedia('(prefers-color-scheme: dark)').addEventListener('change', draw);
    window.matchMedia('print').addEventListener('change', draw);
    draw();
  }

  document.querySelectorAll('.timeline').forEach(setup);
})();
