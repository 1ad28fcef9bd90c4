// The panels beside the lanes: the chosen instruction, source, assembly, flow graph.

import { number } from './draw.js';

const $ = id => document.getElementById(id);

function make(tag, text, className) {
  const e = document.createElement(tag);
  if (text !== undefined) e.textContent = text;
  if (className) e.className = className;
  return e;
}

function table(rows) {
  const t = make('table');
  for (const [name, value] of rows) {
    const tr = make('tr');
    tr.append(make('th', name));
    const td = make('td');
    td.append(value);
    tr.append(td); t.append(tr);
  }
  return t;
}

export class Panels {
  constructor(info, doing) {
    this.info = info; this.doing = doing; this.flowOf = -1; this.listed = -1;
    document.querySelectorAll('#tabs button').forEach(b => b.addEventListener('click', () => this.tab(b.dataset.tab)));
    this.place = null;
    this.source();
    this.assembly(0);
  }

  tab(name) {
    document.querySelectorAll('#tabs button').forEach(b => b.classList.toggle('on', b.dataset.tab === name));
    document.querySelectorAll('.tab').forEach(s => { s.hidden = s.id !== name; });
    if (name === 'flow') this.flow(this.place ? this.place.trace : 0);
    this.mark();
  }

  show(place) {
    this.place = place;
    this.instruction();
    if (place && place.trace !== this.listed) this.assembly(place.trace);
    if (!$('flow').hidden) this.flow(place ? place.trace : 0);
    this.mark();
  }

  instruction() {
    const box = $('instruction');
    box.replaceChildren();
    const place = this.place, a = place && place.answer;
    if (!a) { box.append(make('p', place ? 'No path runs here.' : 'Click on a lane.', 'soft')); return; }
    const trace = this.info.traces[place.trace], i = a.instruction;
    if (i) {
      const text = make('pre', i.text); text.id = 'chosen-text'; box.append(text);
      const rows = [['address', make('code', `${i.addr} (pc ${i.pc})`)]];
      if (i.line > 0) {
        const link = make('a', `${i.file}:${i.line}`);
        link.addEventListener('click', () => this.tab('source'));
        rows.push(['source', link]);
      }
      if (i.writes) rows.push(['writes', make('code', i.writes)]);
      if (i.reads) rows.push(['reads', make('code', i.reads)]);
      box.append(table(rows));
    }
    box.append(make('h3', 'Wave'));
    box.append(table([
      ['wave', `${a.wave}${a.path ? ', path ' + a.path : ''} in slot ${place.slot} of core ${place.core}`],
      ['lanes', make('code', `${a.mask} (${a.lanes} of ${trace.lanes})`)],
      ['state', `${a.state}, cycles ${number(a.from)} to ${number(a.to - 1)}`],
    ]));
    if (a.issued) {
      box.append(make('h3', 'Issued'));
      const s = a.issued;
      box.append(table([['cycle', number(s.cycle)], ['unit', s.unit === 'none' ? 'none' : `${s.unit} ${s.instance}, busy ${s.busy} cycles`]]));
    }
    box.append(make('h3', 'Why it waited'));
    if (!a.waits.length) box.append(make('p', 'It did not wait.', 'soft'));
    for (const w of a.waits) {
      box.append(make('div', `${w.reason}: ${number(w.cycles)} cycles from ${number(w.from)}`));
      for (const o of w.on) {
        const line = make('div', undefined, 'soft');
        const link = make('a', `wave ${o.wave}${o.path ? ', path ' + o.path : ''} at ${number(o.cycle)}`, 'waited-for');
        link.addEventListener('click', () => this.doing.go({ trace: place.trace, core: o.core, slot: o.slot, cycle: o.cycle, path: o.path }));
        line.append('\u2003for ', link, ` ${o.what}`);
        box.append(line);
      }
    }
    for (const m of a.memory) {
      box.append(make('h3', `Memory (${m.port}${m.write ? ', write' : ''})`));
      box.append(table([['lines', `${m.lines}: ${m.hits} hits, ${m.misses} misses, ${m.evictions} evictions`], ['done at', number(m.done)]]));
      if (m.addresses.length) box.append(make('pre', m.addresses.join('\n') + (m.more ? `\nand ${m.more} more` : '')));
      else if (!trace.addresses) box.append(make('p', 'The trace has no addresses; run with --trace-memory.', 'soft'));
    }
    if (a.notes.length) { box.append(make('h3', 'Lanes')); a.notes.forEach(n => box.append(make('div', n))); }
  }

  source() {
    const box = $('source');
    box.replaceChildren();
    if (!this.info.sources.length) {
      box.append(make('p', 'The source was not found beside the trace; --source says where it is.', 'soft'));
      return;
    }
    const used = new Set(this.info.traces.flatMap(t => t.code.map(c => last(c.file) + ':' + c.line)));
    for (const s of this.info.sources) {
      box.append(make('h3', s.name));
      const t = make('table', undefined, 'code');
      s.text.split('\n').forEach((text, i) => {
        const tr = make('tr', undefined, used.has(last(s.name) + ':' + (i + 1)) ? '' : 'never');
        tr.dataset.line = last(s.name) + ':' + (i + 1);
        tr.append(make('td', String(i + 1), 'n'), make('td', text.replace(/\t/g, '    ')));
        if (!tr.classList.contains('never')) tr.addEventListener('click', () => this.seek(`line ${i + 1}`));
        t.append(tr);
      });
      box.append(t);
    }
  }

  assembly(trace) {
    this.listed = trace;
    const box = $('assembly');
    box.replaceChildren();
    const t = make('table', undefined, 'code');
    for (const c of this.info.traces[trace].code) {
      const tr = make('tr', undefined, (c.leads ? 'leads' : '') + (this.info.traces[trace].timed && c.unit === 255 ? ' never' : ''));
      tr.dataset.pc = c.pc;
      tr.append(make('td', c.addr, 'n'), make('td', c.text), make('td', c.line > 0 ? String(c.line) : '', 'n'));
      tr.addEventListener('click', () => this.seek(`pc ${c.addr}`));
      t.append(tr);
    }
    box.append(t);
  }

  seek(text) { $('query').value = text; $('search').requestSubmit(); }

  async flow(trace) {
    if (this.flowOf === trace) return;
    this.flowOf = trace;
    const answer = await fetch('api/flow?trace=' + trace);
    $('flow').innerHTML = await answer.text();
    $('flow').querySelectorAll('.block').forEach(n => n.addEventListener('click', () => {
      const pc = Number([...n.classList].find(c => c.startsWith('pc-')).slice(3));
      const code = this.info.traces[trace].code.find(c => c.pc === pc);
      if (code) this.seek(`pc ${code.addr}`);
    }));
    this.mark();
  }

  // Marks the chosen instruction in source, assembly and flow graph.
  mark() {
    document.querySelectorAll('.here').forEach(e => e.classList.remove('here'));
    const a = this.place && this.place.answer, i = a && a.instruction;
    if (!i) return;
    const here = [...document.querySelectorAll(`#assembly tr[data-pc="${i.pc}"]`)];
    if (i.line > 0) here.push(...[...document.querySelectorAll('#source tr')].filter(tr => tr.dataset.line === last(i.file) + ':' + i.line));
    const code = this.info.traces[this.place.trace].code;
    let at = code.findIndex(c => c.pc === i.pc);
    while (at > 0 && !code[at].leads) at--;
    if (at >= 0) here.push(...document.querySelectorAll(`#flow .pc-${code[at].pc}`));
    here.forEach(e => e.classList.add('here'));
    here.filter(e => e.closest('.tab') && !e.closest('.tab').hidden).forEach(e => e.scrollIntoView({ block: 'center' }));
  }
}

function last(path) { return path.split('/').pop(); }
