"use strict";
(function () {
  const STATE_CLASS = {
    "up": "up", "down": "down", "starting": "starting", "stopped": "stopped", "crashed": "crashed",
    "failed": "failed", "connected": "connected", "in grace": "grace", "gone": "gone",
    "pending": "pending", "running": "running", "waiting": "waiting", "exited": "exited",
    "held": "held", "in use": "use", "unhealthy": "unhealthy", "not listed": "listed",
  };
  const ROW = 22, DEVICE_ROW = 26, TOP = 3, LABEL_FROM = 30, LETTER = 6.6, CUT_AT = 0.75, BESIDE = 14, FLAG_ROW = 21, FLAG_ROWS = 8, COLORS = 8;
  const GROUP_MAX = 30, GROUP_SHOWN = 20, FIT_MAX = 1.35, WIDTH_MAX = 2.2;
  const documents = new Map();
  const drawn = new Map();

  function make(tag, className, text) {
    const element = document.createElement(tag);
    if (className) element.className = className;
    if (text !== undefined && text !== null) element.textContent = text;
    return element;
  }

  function load(id) {
    if (!documents.has(id)) {
      documents.set(id, JSON.parse(document.getElementById(id).textContent));
    }
    return documents.get(id);
  }

  // Measuring on the page would lay it out anew for every text.
  const pen = document.createElement("canvas").getContext("2d");
  const family = getComputedStyle(document.body).fontFamily;

  function widthOf(text, weight) {
    pen.font = weight + " 12px " + family;
    return Math.ceil(pen.measureText(text).width);
  }

  // One tooltip for all; it stays while pointed at, and goes with Escape.
  const tip = make("div");
  tip.id = "tip";
  tip.setAttribute("role", "tooltip");
  tip.hidden = true;
  let tipOwner = null, hiding = 0;

  function showTip(owner, parts) {
    clearTimeout(hiding);
    tipOwner = owner;
    tip.replaceChildren();
    for (const [tag, className, text] of parts) {
      if (text) tip.append(make(tag, className, text));
    }
    if (!tip.isConnected) document.body.append(tip);
    tip.hidden = false;
    tip.style.left = "0px";
    tip.style.top = "0px";
    const box = owner.getBoundingClientRect(), own = tip.getBoundingClientRect();
    const width = document.documentElement.clientWidth;
    const from = Math.max(box.left, 0);
    const left = Math.max(8, Math.min(from, width - own.width - 8));
    const below = box.bottom + 8 + own.height < document.documentElement.clientHeight;
    const top = below ? box.bottom + 6 : Math.max(4, box.top - own.height - 6);
    tip.style.left = left + window.scrollX + "px";
    tip.style.top = top + window.scrollY + "px";
  }

  function hideTip() {
    tip.hidden = true;
    tipOwner = null;
  }

  function hideSoon() {
    clearTimeout(hiding);
    hiding = setTimeout(hideTip, 150);
  }

  tip.addEventListener("mouseenter", function () { clearTimeout(hiding); });
  tip.addEventListener("mouseleave", hideSoon);
  document.addEventListener("keydown", function (event) {
    if (event.key === "Escape") hideTip();
  });
  document.addEventListener("pointerdown", function (event) {
    if (tipOwner && !tipOwner.contains(event.target) && !tip.contains(event.target)) hideTip();
  });

  class Timeline {
    constructor(place) {
      this.place = place;
      const source = load(place.dataset.source);
      this.texts = source.texts;
      this.data = source.timelines[Number(place.dataset.number)];
      this.zoom = null;
      this.items = [[]];
      this.bars = [];
      this.group = [];
      this.build();
    }

    text(index) { return this.texts[index]; }
    time(stop) { return this.text(this.data.stops[stop][1]); }
    share(stop) { return 100 * (stop === null ? 1 : this.data.stops[stop][0] / this.data.width); }

    build() {
      this.scroll = make("div", "scroll");
      this.canvas = make("div", "canvas");
      this.flags = make("div", "flags");
      this.lines = make("div", "lines");
      this.axis = make("div", "axis");
      this.canvas.setAttribute("role", "group");
      this.canvas.setAttribute("aria-label",
        "Timeline of " + this.place.dataset.label + "; arrow keys go from item to item");
      this.canvas.append(this.flags);
      this.drawLanes();
      this.canvas.append(this.axis, this.lines);
      this.drawLines();
      this.scroll.append(this.canvas);
      this.place.replaceChildren(this.tools(), this.scroll);
      this.canvas.addEventListener("keydown", this.key.bind(this));
      new ResizeObserver(this.layout.bind(this)).observe(this.scroll);
      this.layout();
    }

    tools() {
      const tools = make("div", "tools");
      const add = (label, title, action) => {
        const button = make("button", "", label);
        button.type = "button";
        button.title = title;
        button.setAttribute("aria-label", title);
        button.addEventListener("click", action);
        tools.append(button);
      };
      add("\u2212", "Narrower", () => this.scale(1 / 1.5));
      add("+", "Wider", () => this.scale(1.5));
      add("Fit", "Fit the timeline into the page", () => { this.zoom = 0; this.layout(); });
      return tools;
    }

    scale(factor) {
      const now = this.canvas.clientWidth / this.natural();
      this.zoom = Math.max(0.1, Math.min(20, now * factor));
      this.layout();
    }

    names() {
      return parseFloat(getComputedStyle(this.place).getPropertyValue("--names")) || 0;
    }

    natural() { return this.data.width + this.names(); }

    // Widths in pixels are known only now: the canvas, then the flags and times that need room.
    // Places are percentages all the same, so that they are right on paper too.
    layout() {
      const box = this.scroll.clientWidth;
      if (!box) return;
      const natural = this.natural();
      const own = natural < box * FIT_MAX ? box : Math.min(natural, box * WIDTH_MAX);
      const wanted = this.zoom === null ? own : natural * this.zoom;
      const width = Math.max(box, Math.round(wanted));
      if (width === this.width && box === this.box) return;
      this.width = width;
      this.box = box;
      this.canvas.style.width = width + "px";
      const track = width - this.names();
      const px = (share) => track * share / 100;
      for (const { item, from, to, label, used } of this.bars) {
        const written = label.length * LETTER + 8;
        // What is in use is written on that bar, where it would cover what is written here.
        const covered = used.some((use) =>
          px(use.to - use.from) >= LABEL_FROM && px(use.from - from) < written);
        item.classList.toggle("tiny", covered || px(to - from) < LABEL_FROM);
      }
      this.drawFlags(track);
      this.drawAxis(track);
    }

    // The cut stands late in its gap, so that it leaves room for what is written at its beginning.
    cutShare(index) {
      return this.share(index) + (this.share(index + 1) - this.share(index)) * CUT_AT;
    }

    drawLanes() {
      const data = this.data;
      const nodes = new Set(data.lanes.map((lane) => lane[1]));
      let node = null, group = null;
      if (data.judged.length) this.judgedLane();
      for (const [kindText, nodeText, nameText, bars, ticks] of data.lanes) {
        const kind = this.text(kindText), name = this.text(nameText);
        if (nodeText !== node) {
          node = nodeText;
          group = null;
          this.fold();
          if (nodes.size > 1) this.heading("of-node", this.text(node) || "on no node");
        }
        let shown = name, small = "", heading = "";
        if (kind === "device") {
          const space = name.indexOf(" ");
          shown = name.slice(space + 1);
          heading = "devices of " + name.slice(0, space);
        } else if (kind === "plugin") {
          heading = "plugins";
        } else if (kind === "container") {
          heading = "containers";
        } else if (kind === "node") {
          small = "node";
        }
        if (heading !== (group || "")) {
          this.fold();
          group = heading;
          if (heading) this.heading("", heading);
        }
        this.group.push(this.lane(kind, shown, small, bars, ticks));
      }
      this.fold();
    }

    // A group of very many lanes shows the first ones until all are asked for.
    fold() {
      const lanes = this.group;
      this.group = [];
      if (lanes.length <= GROUP_MAX) return;
      for (const lane of lanes.slice(GROUP_SHOWN)) lane.hidden = true;
      const more = make("div", "heading");
      const button = make("button", "quiet", "show all " + lanes.length);
      button.type = "button";
      button.addEventListener("click", () => {
        for (const lane of lanes) lane.hidden = false;
        more.remove();
      });
      more.append(button);
      lanes[lanes.length - 1].after(more);
    }

    heading(className, text) {
      this.canvas.append(make("div", "heading " + className, text));
    }

    row(kind, name, small) {
      const lane = make("div", "lane " + kind.split(" ").pop());
      const label = make("div", "name", name);
      label.title = name;
      if (small) {
        label.append(" ", make("small", "", small));
      }
      const track = make("div", "track");
      lane.append(label, track);
      this.canvas.append(lane);
      this.items.push([]);
      return track;
    }

    lane(kind, name, small, bars, ticks) {
      const track = this.row(kind, name, small);
      const height = kind === "device" ? DEVICE_ROW : ROW;
      const placed = [];
      let rows = 1;
      const isUse = (bar) => this.text(bar[0]) === "in use";
      // What is in use is drawn over what is held, whichever began first.
      const ordered = bars.slice().sort((a, b) => isUse(a) - isUse(b));
      for (const [stateText, from, to, labelText, record, row, pod, lasted] of ordered) {
        const state = this.text(stateText), label = this.text(labelText);
        const end = to === null ? "the end" : this.time(to);
        const color = pod === null ? "" : " p" + (pod % COLORS);
        const item = make("button",
          "bar " + STATE_CLASS[state] + color + (to === null ? " open" : ""));
        item.append(make("span", "", label));
        item.style.left = this.share(from) + "%";
        item.style.width = this.share(to) - this.share(from) + "%";
        item.style.top = TOP + row * height + "px";
        const bar = { item, label, row, state, from: this.share(from), to: this.share(to), used: [] };
        placed.push(bar);
        rows = Math.max(rows, row + 1);
        const title = name + ": " + state + (label && label !== state ? ", " + label : "");
        const time = this.time(from) + " to " + end
          + (to === null ? "" : " (" + this.text(lasted) + ")");
        this.item(item, track, from, title, time, this.recordText(record));
      }
      for (const bar of placed) {
        if (bar.state === "held") {
          bar.used = placed.filter((use) => use.state === "in use" && use.row === bar.row
            && use.to > bar.from && use.from < bar.to);
        }
      }
      this.bars.push(...placed);
      for (const [kindText, at, record] of ticks) {
        const state = this.text(kindText);
        const item = make("button", "tick " + state);
        item.style.left = this.share(at) + "%";
        this.item(item, track, at, name + ": " + this.recordType(record), this.time(at),
          this.recordText(record));
      }
      track.style.minHeight = TOP * 2 + rows * height - 3 + "px";
      return track.parentElement;
    }

    judgedLane() {
      const track = this.row("expectations", "expectations", "");
      const run = this.place.dataset.run;
      const before = new Map();
      for (const [at, row, verdictText] of this.data.judged) {
        const beside = before.get(at) || 0;
        before.set(at, beside + 1);
        const verdict = this.text(verdictText);
        const id = run + "e" + (row + 1);
        const item = make("button", "tick " + verdict);
        // Beside each other; at the very end of the run there is room only to the left.
        const aside = (at + 1 === this.data.stops.length ? -1 : 1) * beside * BESIDE;
        item.style.left = "calc(" + this.share(at) + "% + " + aside + "px)";
        const entry = document.getElementById(id);
        const said = entry ? entry.textContent.replace(/\u2191 table\s*$/, "").trim() : verdict;
        this.item(item, track, at, verdict + " at " + this.time(at), "",
          said.replace(/^\S+\s+\w+ at \S+ /, ""));
        item.addEventListener("click", function () { location.hash = id; });
      }
    }

    recordType(record) { return this.text(this.data.records[record][2]); }
    recordText(record) {
      const text = this.text(this.data.records[record][3]);
      return this.recordType(record) + (text ? ": " + text : "");
    }

    item(item, track, stop, title, time, text) {
      item.type = "button";
      item.tabIndex = this.first ? -1 : 0;
      this.first = this.first || item;
      item.setAttribute("aria-label", [title, time, text].filter(Boolean).join("; "));
      const show = function () {
        showTip(item, [["b", "", title], ["span", "time", time], ["span", "text", text]]);
      };
      item.addEventListener("mouseenter", show);
      item.addEventListener("mouseleave", hideSoon);
      item.addEventListener("focus", show);
      item.addEventListener("blur", hideSoon);
      item.addEventListener("click", show);
      item.dataset.stop = stop;
      track.append(item);
      this.items[this.items.length - 1].push(item);
    }

    // The timeline is one stop of the Tab key; the arrow keys go about in it.
    key(event) {
      const steps = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [-1, 0], ArrowDown: [1, 0] };
      const step = steps[event.key];
      if (!step) return;
      const lanes = this.items.filter((lane) => lane.length && lane[0].offsetParent);
      const row = lanes.findIndex((lane) => lane.includes(event.target));
      if (row < 0) return;
      event.preventDefault();
      const order = (lane) => lane.slice().sort((a, b) => a.dataset.stop - b.dataset.stop);
      let next;
      if (step[0]) {
        const lane = lanes[row + step[0]] || [];
        const distance = (item) => Math.abs(item.dataset.stop - event.target.dataset.stop);
        next = lane.slice().sort((a, b) => distance(a) - distance(b))[0];
      } else {
        const lane = order(lanes[row]);
        next = lane[lane.indexOf(event.target) + step[1]];
      }
      if (!next) return;
      event.target.tabIndex = -1;
      next.tabIndex = 0;
      next.focus();
    }

    // Marks of one kind at one instant share a flag.
    flagGroups() {
      const groups = new Map();
      for (const [kindText, at, labelText, record] of this.data.marks) {
        const key = kindText + " " + at;
        if (!groups.has(key)) groups.set(key, { kind: this.text(kindText), at, labels: [], records: [] });
        const group = groups.get(key);
        const label = this.text(labelText);
        if (!group.labels.includes(label)) group.labels.push(label);
        group.records.push(record);
      }
      return [...groups.values()].sort((a, b) => a.at - b.at);
    }

    drawLines() {
      for (const group of this.flagGroups()) {
        const line = make("div", "mark " + group.kind);
        line.style.left = this.share(group.at) + "%";
        this.lines.append(line);
      }
      const stops = this.data.stops;
      for (let index = 0; index + 1 < stops.length; index += 1) {
        if (stops[index][3] === null) continue;
        const cut = make("div", "cut");
        cut.style.left = this.cutShare(index) + "%";
        this.lines.append(cut);
      }
      this.cursor = make("div", "cursor");
      this.cursor.hidden = true;
      this.lines.append(this.cursor);
    }

    drawFlags(width) {
      this.flags.replaceChildren();
      const ends = [];
      this.items[0] = [];
      let rows = 0;
      for (const group of this.flagGroups()) {
        const label = { step: "", fault: "\u25B2 ", violation: "\u2715 ", boot: "" }[group.kind]
          + group.labels.join(", ");
        const flag = make("button", "flag " + group.kind, label);
        this.flags.append(flag);
        const own = Math.min(widthOf(label, group.kind === "step" ? 400 : 600) + 13, 264);
        const at = width * this.share(group.at) / 100;
        const left = at + own > width ? Math.max(0, at - own) : at;
        let row = 0;
        while (row < ends.length && ends[row] > left - 4) row += 1;
        if (row < FLAG_ROWS) {
          ends[row] = left + own;
        } else {
          flag.textContent = "";
          flag.classList.add("dot");
          row = FLAG_ROWS;
        }
        rows = Math.max(rows, row + 1);
        flag.style.left = 100 * (row < FLAG_ROWS ? left : at - 4) / width + "%";
        flag.style.top = row * FLAG_ROW + "px";
        const texts = group.records.map((record) => this.recordText(record)).join("\n");
        flag.type = "button";
        flag.tabIndex = -1;
        flag.setAttribute("aria-label", group.kind + " " + label + " at " + this.time(group.at));
        const show = () => showTip(flag, [
          ["b", "", group.kind + ": " + group.labels.join(", ")],
          ["span", "time", this.time(group.at)],
          ["span", "text", group.kind === "step" ? "" : texts],
        ]);
        flag.addEventListener("mouseenter", show);
        flag.addEventListener("mouseleave", hideSoon);
        flag.addEventListener("focus", show);
        flag.addEventListener("blur", hideSoon);
        flag.addEventListener("click", show);
        flag.dataset.stop = group.at;
        this.items[0].push(flag);
      }
      this.flags.style.height = rows * FLAG_ROW + 2 + "px";
    }

    // Bold times first, for they matter most; then lengths of cuts, then times that still fit.
    drawAxis(width) {
      this.axis.replaceChildren();
      const stops = this.data.stops;
      const taken = { at: [], since: [] };
      const fits = (row, left, right) => {
        if (left < 0 || right > width + 4) return false;
        if (taken[row].some(([a, b]) => left < b + 8 && right > a - 8)) return false;
        taken[row].push([left, right]);
        return true;
      };
      const put = (className, row, text, at, centered) => {
        const own = widthOf(text, className === "at" ? 700 : 400);
        const left = centered ? at - own / 2 : Math.min(at, width - own);
        if (!fits(row, left, left + own)) return;
        const label = make("span", className, text);
        label.style.left = 100 * (centered ? at : left) / width + "%";
        this.axis.append(label);
      };
      const x = (stop) => width * this.share(stop) / 100;
      stops.forEach((stop, index) => {
        const tick = make("i");
        tick.style.left = this.share(index) + "%";
        this.axis.append(tick);
        if (stop[2] === null) put("at", "at", this.text(stop[1]), x(index), false);
      });
      stops.forEach((stop, index) => {
        if (stop[3] !== null) {
          put("gap", "since", this.text(stop[3]), width * this.cutShare(index) / 100, true);
        }
      });
      stops.forEach((stop, index) => {
        const last = index + 1 === stops.length || stop[3] !== null;
        if (stop[2] !== null && last) put("since", "since", this.text(stop[2]), x(index), false);
      });
      stops.forEach((stop, index) => {
        if (stop[2] !== null) put("since", "since", this.text(stop[2]), x(index), false);
      });
    }

    point(stop) {
      this.cursor.hidden = false;
      this.cursor.style.left = this.share(stop) + "%";
      const x = this.names() + (this.width - this.names()) * this.share(stop) / 100;
      const box = this.scroll.clientWidth;
      if (x < this.scroll.scrollLeft + this.names() || x > this.scroll.scrollLeft + box) {
        this.scroll.scrollLeft = x - (box + this.names()) / 2;
      }
    }
  }

  function draw(place) {
    if (!drawn.has(place)) drawn.set(place, new Timeline(place));
    return drawn.get(place);
  }

  function timelineOf(run) {
    const place = document.querySelector('.timeline[data-run="' + run + '"]');
    return place ? draw(place) : null;
  }

  function list(fold) {
    if (fold.dataset.done) return;
    fold.dataset.done = "yes";
    const timeline = timelineOf(fold.dataset.run);
    const records = timeline.data.records;
    const types = [...new Set(records.map((record) => record[2]))]
      .sort((a, b) => (timeline.text(a) < timeline.text(b) ? -1 : 1));
    const filters = make("div", "filters");
    const select = make("select");
    select.append(new Option("all types", ""));
    for (const type of types) select.append(new Option(timeline.text(type), String(type)));
    const input = make("input");
    input.type = "search";
    input.placeholder = "pod, device, ...";
    const typeLabel = make("label", "", "Type ");
    const textLabel = make("label", "", "Text ");
    typeLabel.append(select);
    textLabel.append(input);
    const count = make("span");
    count.setAttribute("role", "status");
    filters.append(typeLabel, textLabel, count);
    const box = make("div", "box");
    box.tabIndex = 0;
    box.setAttribute("role", "region");
    box.setAttribute("aria-label", "Records");
    const table = make("table"), head = make("thead"), body = make("tbody"), titles = make("tr");
    const nodes = new Set(records.map((record) => timeline.text(record[1])).filter(Boolean)).size > 1;
    for (const title of ["Time", ...(nodes ? ["Node"] : []), "Record", "What happened"]) {
      const cell = make("th", "", title);
      cell.scope = "col";
      titles.append(cell);
    }
    head.append(titles);
    table.append(head, body);
    box.append(table);
    const fill = function () {
      const wanted = input.value.toLowerCase();
      const rows = [];
      for (const [stop, node, type, text] of records) {
        if (select.value && String(type) !== select.value) continue;
        const said = timeline.text(text);
        if (wanted && !said.toLowerCase().includes(wanted)) continue;
        const row = make("tr"), time = make("td"), button = make("button", "", timeline.time(stop));
        button.type = "button";
        button.title = "show in the timeline";
        button.addEventListener("click", function () {
          timeline.point(stop);
          timeline.place.scrollIntoView({ block: "nearest" });
        });
        time.append(button);
        row.append(time);
        if (nodes) row.append(make("td", "", timeline.text(node)));
        row.append(make("td", "type", timeline.text(type)), make("td", "text", said));
        rows.push(row);
      }
      body.replaceChildren(...rows);
      count.textContent = rows.length + " of " + records.length;
    };
    select.addEventListener("change", fill);
    input.addEventListener("input", fill);
    fold.append(filters, box);
    fill();
  }

  // A link into a run opens it; a link to an expectation also shows its instant.
  function reveal() {
    const id = decodeURIComponent(location.hash.slice(1));
    const target = id && document.getElementById(id);
    if (!target) return;
    for (let at = target; at; at = at.parentElement) {
      if (at.tagName === "DETAILS") at.open = true;
    }
    const run = target.closest("details.run");
    if (!run) return;
    const timeline = timelineOf(run.id);
    if (!timeline) return;
    timeline.layout();
    const row = /e(\d+)$/.exec(id);
    if (target === run || !row) {
      run.scrollIntoView({ block: "start" });
      return;
    }
    const judged = timeline.data.judged.find((one) => one[1] === Number(row[1]) - 1);
    if (judged) timeline.point(judged[0]);
    run.scrollIntoView({ block: "start" });
  }

  for (const run of document.querySelectorAll("details.run")) {
    const place = run.querySelector(".timeline");
    const open = function () { if (run.open && place) draw(place).layout(); };
    run.addEventListener("toggle", open);
    open();
  }
  for (const fold of document.querySelectorAll("details.records")) {
    fold.addEventListener("toggle", function () { if (fold.open) list(fold); });
    if (fold.open) list(fold);
  }
  for (const place of document.querySelectorAll(".timeline")) {
    if (!place.closest("details.run")) draw(place);
  }
  document.addEventListener("click", function (event) {
    const link = event.target.closest('a[href^="#"]');
    // The same link twice changes no hash, and is to be followed all the same.
    if (link && link.getAttribute("href") === location.hash) reveal();
  });
  window.addEventListener("hashchange", reveal);
  reveal();

  const themes = ["auto", "light", "dark"], button = document.getElementById("theme");
  let theme = 0;
  button.hidden = false;
  button.addEventListener("click", function () {
    theme = (theme + 1) % themes.length;
    if (theme) document.documentElement.dataset.theme = themes[theme];
    else delete document.documentElement.dataset.theme;
    button.textContent = "Theme: " + themes[theme];
  });
})();
