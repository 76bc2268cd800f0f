// Plays a flight in 3-D: plain WebGL, no library, nothing fetched. `data` is made by playback.py.
function skyrigPlayer(root, data) {
  "use strict";
  const find = (name) => root.querySelector(`[data-player="${name}"]`);
  const canvas = find("canvas"), slider = find("time"), button = find("play"), speed = find("speed");
  const gl = canvas.getContext("webgl", { alpha: false, antialias: true, preserveDrawingBuffer: true });
  if (!gl) { find("note").textContent = "This browser cannot draw in 3-D (WebGL is off)."; return; }

  const floats = (text) => {
    const bytes = Uint8Array.from(atob(text), (letter) => letter.charCodeAt(0));
    return new Float32Array(bytes.buffer);
  };
  const dark = data.dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
  const light = [[0.965, 0.97, 0.98], [0.76, 0.78, 0.81], [0.5, 0.54, 0.62]];
  const own = dark ? [[0.1, 0.11, 0.13], [0.27, 0.29, 0.33], [0.5, 0.55, 0.65]] : light;
  let [ground, ofGrid, ofPath] = own;

  // ---- small vector algebra; matrices are column-major
  const sub = (a, b) => [a[0] - b[0], a[1] - b[1], a[2] - b[2]];
  const add = (a, b) => [a[0] + b[0], a[1] + b[1], a[2] + b[2]];
  const scale = (a, s) => [a[0] * s, a[1] * s, a[2] * s];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const size = (a) => Math.sqrt(dot(a, a));
  const unit = (a) => scale(a, 1 / (size(a) || 1));
  const times = (a, b) => {
    const c = new Float32Array(16);
    for (let i = 0; i < 4; i++) for (let j = 0; j < 4; j++) {
      let s = 0;
      for (let k = 0; k < 4; k++) s += a[k * 4 + j] * b[i * 4 + k];
      c[i * 4 + j] = s;
    }
    return c;
  };
  const pose = (p, q) => {
    const [w, x, y, z] = q;
    return new Float32Array([
      1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y), 0,
      2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x), 0,
      2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y), 0,
      p[0], p[1], p[2], 1]);
  };
  const apply = (m, v) => [0, 1, 2].map((i) => m[i] * v[0] + m[4 + i] * v[1] + m[8 + i] * v[2] + m[12 + i]);
  // a unit bar along z from a to b
  const bar = (a, b, thick) => {
    const way = sub(b, a), z = unit(way), x = unit(cross(Math.abs(z[2]) > 0.9 ? [1, 0, 0] : [0, 0, 1], z));
    const y = cross(z, x), l = size(way);
    return new Float32Array([...scale(x, thick), 0, ...scale(y, thick), 0, ...scale(z, l), 0, ...a, 1]);
  };

  // ---- drawing
  const compile = (kind, text, shader = gl.createShader(kind)) => {
    gl.shaderSource(shader, text); gl.compileShader(shader);
    return shader;
  };
  const program = gl.createProgram();
  gl.attachShader(program, compile(gl.VERTEX_SHADER, `
    attribute vec3 place; attribute vec3 normal; uniform mat4 model, view; uniform float flatten;
    varying vec3 facing; varying vec3 spot;
    void main() {
      vec4 world = model * vec4(place, 1.0);
      if (flatten > 0.5) world = vec4(world.xy + vec2(0.18, 0.12) * world.z, 0.003, 1.0);
      facing = mat3(model) * normal; spot = world.xyz; gl_Position = view * world;
    }`));
  gl.attachShader(program, compile(gl.FRAGMENT_SHADER, `
    precision mediump float; varying vec3 facing; varying vec3 spot;
    uniform vec4 colour; uniform float lit; uniform vec3 eye; uniform vec3 haze;
    void main() {
      float light = 1.0;
      if (lit > 0.5) light = 0.62 + 0.48 * max(dot(normalize(facing), normalize(vec3(-0.35, -0.55, 0.9))), 0.0);
      float far = lit < -0.5 ? smoothstep(5.0, 16.0, distance(spot, eye)) : 0.0;
      gl_FragColor = vec4(mix(colour.rgb * light, haze, far), colour.a);
    }`));
  gl.linkProgram(program); gl.useProgram(program);
  const at = (name) => gl.getUniformLocation(program, name);
  const where = ["model", "view", "flatten", "colour", "lit", "eye", "haze"].reduce((o, k) => (o[k] = at(k), o), {});
  const place = gl.getAttribLocation(program, "place"), normal = gl.getAttribLocation(program, "normal");
  gl.enableVertexAttribArray(place); gl.enableVertexAttribArray(normal);
  const identity = pose([0, 0, 0], [1, 0, 0, 0]);
  const buffer = (numbers, b = gl.createBuffer()) => {
    gl.bindBuffer(gl.ARRAY_BUFFER, b); gl.bufferData(gl.ARRAY_BUFFER, new Float32Array(numbers), gl.STATIC_DRAW);
    return b;
  };
  const solid = (mesh, tint, out = []) => {  // flat faces: every triangle has corners of its own
    for (let f = 0; f < mesh.faces.length; f += 3) {
      const corner = [0, 1, 2].map((k) => mesh.vertices.slice(3 * mesh.faces[f + k], 3 * mesh.faces[f + k] + 3));
      const up = unit(cross(sub(corner[1], corner[0]), sub(corner[2], corner[0])));
      for (const c of corner) out.push(...c, ...up);
    }
    return { buffer: buffer(out), count: out.length / 6, colour: (tint || mesh.colour).map((c) => c / 255), mode: gl.TRIANGLES };
  };
  const lines = (points, colour) => {
    const out = points.flatMap((p) => [...p, 0, 0, 1]);
    return { buffer: buffer(out), count: points.length, colour, mode: gl.LINES };
  };
  const draw = (thing, model, option) => {
    const o = option || {};
    gl.bindBuffer(gl.ARRAY_BUFFER, thing.buffer);
    gl.vertexAttribPointer(place, 3, gl.FLOAT, false, 24, 0);
    gl.vertexAttribPointer(normal, 3, gl.FLOAT, false, 24, 12);
    gl.uniformMatrix4fv(where.model, false, model);
    gl.uniform1f(where.flatten, o.shadow ? 1 : 0);
    gl.uniform1f(where.lit, o.shadow || thing.mode === gl.LINES ? (o.fades ? -1 : 0) : 1);
    const c = o.shadow ? [0, 0, 0] : o.colour || thing.colour;
    gl.uniform4f(where.colour, c[0], c[1], c[2], o.shadow ? 0.22 : o.alpha || 1);
    gl.drawArrays(thing.mode, 0, thing.count);
  };
  const pairs = (points) => points.slice(1).flatMap((p, k) => [points[k], p]);
  const cube = solid({
    vertices: [-.5, -.5, 0, .5, -.5, 0, .5, .5, 0, -.5, .5, 0, -.5, -.5, 1, .5, -.5, 1, .5, .5, 1, -.5, .5, 1],
    faces: [0, 2, 1, 0, 3, 2, 4, 5, 6, 4, 6, 7, 0, 1, 5, 0, 5, 4, 1, 2, 6, 1, 6, 5, 2, 3, 7, 2, 7, 6, 3, 0, 4, 3, 4, 7],
    colour: [0, 0, 0] });
  const made = (of) => {  // what one rig looks like and how it moves
    const track = {}, shape = (mesh) => solid(mesh, of.tint || (dark && mesh.onDark));
    for (const name of Object.keys(of.tracks)) track[name] = floats(of.tracks[name]);
    return { of, track, frames: track.times.length, team: of.bodies.filter((b) => b.rotors).length,
      bodies: of.bodies.map((b) => ({ ...b, parts: b.meshes.map(shape), blade: b.rotors ? shape(b.propeller) : null })) };
  };
  const main = made(data), second = data.overlay ? made(data.overlay) : null;
  const { track, frames } = main, last = track.times[frames - 1], first = track.times[0];
  const ghost = lines(data.bodies[data.main].edges || [], [0.16, 0.51, 0.88]);
  const net = [];
  // in short pieces: some machines leave out a line that begins behind the camera
  for (let k = -20; k <= 20; k++) for (let j = -10; j < 10; j++)
    net.push([k / 2, j, 0], [k / 2, j + 1, 0], [j, k / 2, 0], [j + 1, k / 2, 0]);
  const grid = lines(net, ofGrid);
  const three = (a, row) => [a[3 * row], a[3 * row + 1], a[3 * row + 2]];
  const four = (a, row) => [a[4 * row], a[4 * row + 1], a[4 * row + 2], a[4 * row + 3]];
  const every = Array.from({ length: frames }, (_, k) => three(track.position, k * data.bodies.length + data.main));
  const trail = lines(pairs(every), [0.9, 0.47, 0.12]);
  const path = track.wanted_position
    ? lines(pairs(every.map((_, k) => three(track.wanted_position, k))), ofPath) : null;

  // ---- the camera
  const box = data.box, camera = { turn: -0.8, tilt: 0.42, far: 1, centre: box.centre.slice() };
  camera.far = 0.85 * box.size / Math.tan(0.35) / 2;
  let held = null;
  canvas.addEventListener("pointerdown", (e) => { held = [e.clientX, e.clientY]; canvas.setPointerCapture(e.pointerId); });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointermove", (e) => {
    if (!held) return;
    camera.turn -= 0.008 * (e.clientX - held[0]);
    camera.tilt = Math.min(1.55, Math.max(-0.1, camera.tilt + 0.008 * (e.clientY - held[1])));
    held = [e.clientX, e.clientY]; dirty = true;
  });
  canvas.addEventListener("wheel", (e) => {
    e.preventDefault(); camera.far *= Math.exp(0.001 * e.deltaY); dirty = true;
  }, { passive: false });
  const look = (centre) => {
    const way = [Math.cos(camera.turn) * Math.cos(camera.tilt), Math.sin(camera.turn) * Math.cos(camera.tilt), Math.sin(camera.tilt)];
    const eye = add(centre, scale(way, camera.far)), x = unit(cross([0, 0, 1], way)), y = cross(way, x);
    const near = 0.02 * camera.far, end = 60 + 4 * camera.far, f = 1 / Math.tan(0.35), wide = canvas.width / canvas.height;
    const g = wide < 1 ? f * wide : f;
    const lens = new Float32Array([g / wide, 0, 0, 0, 0, g, 0, 0, 0, 0, (end + near) / (near - end), -1, 0, 0, 2 * end * near / (near - end), 0]);
    const stand = new Float32Array([x[0], y[0], way[0], 0, x[1], y[1], way[1], 0, x[2], y[2], way[2], 0, -dot(x, eye), -dot(y, eye), -dot(way, eye), 1]);
    return [times(lens, stand), eye];
  };

  // ---- a slack cable: a catenary of its true length
  const hanging = (a, b, length) => {
    const way = sub(b, a), across = Math.hypot(way[0], way[1]), rise = way[2], points = [];
    if (length <= size(way) * (1 + 1e-6)) return [a, b];
    for (let k = 0; k <= 12; k++) {
      const s = length * k / 12;
      if (across < 1e-3 * length) {
        const down = (length - rise) / 2;
        points.push(add(a, [way[0] * k / 12, way[1] * k / 12, s < down ? -s : s - 2 * down]));
        continue;
      }
      const stretch = Math.sqrt(length * length - rise * rise) / across;
      let u = stretch < 3 ? Math.sqrt(6 * (stretch - 1)) : Math.log(2 * stretch) + Math.log(Math.log(2 * stretch));
      for (let j = 0; j < 12; j++) u -= (Math.sinh(u) / u - stretch) / ((Math.cosh(u) - Math.sinh(u) / u) / u);
      const c = across / (2 * u), low = across / 2 - c * Math.atanh(rise / length);
      const x = low + c * Math.asinh(s / c - Math.sinh(low / c));
      points.push(add(a, [way[0] * x / across, way[1] * x / across, c * (Math.cosh((x - low) / c) - Math.cosh(low / c))]));
    }
    return points;
  };

  // ---- one moment
  const mix = (a, b, s) => a.map((x, k) => x * (1 - s) + b[k] * s);
  const blend = (a, b, s) => { const c = mix(a, dot(a.slice(1), b.slice(1)) + a[0] * b[0] < 0 ? b.map((x) => -x) : b, s);
    const l = Math.sqrt(c.reduce((t, x) => t + x * x, 0)); return c.map((x) => x / l); };
  // where everything of a rig is at a time: before its first frame and after its last it stands still
  const moment = (rig, t) => {
    const { track, frames } = rig, n = rig.bodies.length;
    let k = 0, high = frames - 1;
    while (k < high) { const mid = (k + high + 1) >> 1; if (track.times[mid] <= t + 1e-6) k = mid; else high = mid - 1; }
    const next = Math.min(k + 1, frames - 1), gap = track.times[next] - track.times[k];
    const s = gap > 0 ? Math.min(1, Math.max(0, (t - track.times[k]) / gap)) : 0;
    const body = (where_, how, index, per) => pose(
      mix(three(where_, k * per + index), three(where_, next * per + index), s),
      blend(four(how, k * per + index), four(how, next * per + index), s));
    const all = rig.bodies.map((_, j) => body(track.position, track.attitude, j, n)), main = all[rig.of.main];
    return { k, next, s, all, here: [main[12], main[13], main[14]],
      wanted: track.wanted_position ? body(track.wanted_position, track.wanted_attitude, 0, 1) : null };
  };
  // ---- the points that a cable runs through, if they are known
  const course = (rig, at, count, j) => {
    const { track, frames } = rig, many = track.nodes.length / 3 / frames / (count || 1), found = [];
    for (let i = 0; i < many; i++) {
      const place = (row) => three(track.nodes, (row * count + j) * many + i);
      found.push(mix(place(at.k), place(at.next), at.s));
    }
    return found;
  };
  const widest = (points) => {
    const gaps = points.map((point, p) => p ? size(sub(point, points[p - 1])) : 0);
    return gaps.indexOf(Math.max(...gaps));
  };
  const drawTethers = (rig, at, t, told) => {
    const { of, track } = rig, count = of.tethers.length;
    of.tethers.forEach((line, j) => {
      const row = at.k * count + j, cut = line.cut !== null && t >= line.cut;
      const taut = track.taut[row] > 0.5, pull = track.tension[row], length = track.length[row];
      const [top, other] = line.ends.map((end) => apply(at.all[end.body], end.point));
      const between = course(rig, at, count, j), end = cut && !between.length ? sub(top, [0, 0, length || 0]) : other;
      const points = between.length ? [top, ...between, end] : taut || cut || !(length > 0) ? [top, end] : hanging(top, end, length);
      const gap = cut && between.length ? widest(points) : 0;  // where it was cut
      const own = of.tint || line.colour, colour = (taut || of.tint ? own : data.slack).map((c) => c / 255);
      for (let p = 1; p < points.length; p++) if (p !== gap) draw(cube, bar(points[p - 1], points[p], of.thick), { colour });
      const words = cut ? "cut" : !taut ? "slack" : isNaN(pull) ? "" : pull.toFixed(2) + " N";
      if (words) told.push(`<span data-readout="${line.name}" style="border-bottom: 3px solid rgb(${own})">${line.label}: ${words}</span> `);
    });
  };
  const drawBodies = (rig, at, alpha) => rig.bodies.forEach((body, j) => {
    body.parts.forEach((part) => draw(part, at.all[j], { alpha }));
    (body.rotors || []).forEach((hub, r) => {
      const angle = body.spins[r] * rig.track.turns[at.k * rig.team + body.vehicle] + 1.4 * r;
      draw(body.blade, times(at.all[j], pose(hub, [Math.cos(angle / 2), 0, 0, Math.sin(angle / 2)])), { alpha });
    });
  });
  const write = (prefix, place) => ["east", "north", "height"].forEach((name, k) => {
    const rounded = Math.round(1000 * place[k]) / 1000 + 0;  // no minus before a zero
    find(prefix + name).textContent = rounded.toFixed(3);
  });
  const show = (t) => {
    const at = moment(main, t), { here } = at;
    const wide = Math.round(canvas.clientWidth * devicePixelRatio), high = Math.round(canvas.clientHeight * devicePixelRatio);
    if (canvas.width !== wide || canvas.height !== high) { canvas.width = wide; canvas.height = high; }
    gl.viewport(0, 0, wide, high);
    gl.clearColor(...ground, 1); gl.enable(gl.DEPTH_TEST); gl.enable(gl.BLEND);
    gl.blendFunc(gl.SRC_ALPHA, gl.ONE_MINUS_SRC_ALPHA);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    const [view, eye] = look(find("follow").checked ? here : camera.centre);
    gl.uniformMatrix4fv(where.view, false, view);
    gl.uniform3f(where.eye, ...eye); gl.uniform3f(where.haze, ...ground);
    const shift = pose([Math.round(camera.centre[0]), Math.round(camera.centre[1]), 0], [1, 0, 0, 0]);
    draw(grid, shift, { fades: true, colour: ofGrid });
    gl.depthMask(false);
    main.bodies.forEach((body, j) => body.parts.forEach((part) => draw(part, at.all[j], { shadow: true })));
    gl.depthFunc(gl.LEQUAL);
    if (path) draw(path, identity, { colour: ofPath });
    gl.depthMask(true);
    draw({ ...trail, count: Math.max(0, 2 * at.k) }, identity);
    const told = [];
    drawBodies(main, at);
    if (at.wanted) draw(ghost, at.wanted);
    drawTethers(main, at, t, told);
    if (second) {  // last, because one sees through it
      const beside = moment(second, t), alpha = second.of.opacity;
      drawTethers(second, beside, t, []);
      gl.enable(gl.CULL_FACE);
      drawBodies(second, beside, alpha);
      gl.disable(gl.CULL_FACE);
      write("second-", beside.here);
    }
    const words = told.join("");
    find("clock").textContent = t.toFixed(2);
    write("", here);
    if (find("tethers").innerHTML !== words) find("tethers").innerHTML = words;
  };

  // ---- the clock
  let now = first, playing = false, before = 0, dirty = true;
  slider.min = first; slider.max = last; slider.step = "any"; slider.value = now;
  const set = (on) => { playing = on; before = 0; button.textContent = on ? "Pause" : "Play"; };
  button.addEventListener("click", () => { if (!playing && now >= last - 1e-6) now = first; set(!playing); dirty = true; });
  slider.addEventListener("input", () => { set(false); now = Number(slider.value); dirty = true; });
  find("follow").addEventListener("change", () => { dirty = true; });
  new ResizeObserver(() => { dirty = true; }).observe(canvas);
  const still = document.createElement("canvas");  // what is printed: a light picture, since what WebGL draws comes too late
  addEventListener("beforeprint", () => {
    [ground, ofGrid, ofPath] = light; show(now);
    still.width = canvas.width; still.height = canvas.height; still.getContext("2d").drawImage(canvas, 0, 0);
    canvas.before(still); canvas.style.display = "none";
  });
  addEventListener("afterprint", () => { still.remove(); canvas.style.display = ""; [ground, ofGrid, ofPath] = own; dirty = true; });
  const tick = (stamp) => {
    if (playing) {
      now = Math.min(last, now + (before ? (stamp - before) / 1000 : 0) * Number(speed.value));
      before = stamp; slider.value = now; dirty = true;
      if (now >= last) set(false);
    }
    if (dirty) { dirty = false; show(now); }
    requestAnimationFrame(tick);
  };
  requestAnimationFrame(tick);
}
