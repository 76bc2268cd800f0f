// What the studio adds to viser's page: it says when the studio is lost, and keeps keys apart.
(() => {
  // A link has done its work once its page has come: coming again must not open everything anew.
  addEventListener("load", () => setTimeout(() => {
    if (location.search) history.replaceState(null, "", location.pathname);
  }, 3000));

  // On a phone the panel is a sheet over the scene: it begins folded, its head telling time and error.
  const fold = (left) => {
    const head = document.querySelector("[style*='max-height: 60%'] [style*='cursor: pointer']");
    if (head) head.click();
    else if (left) setTimeout(fold, 100, left - 1);
  };
  if (matchMedia("(max-width: 36em)").matches) addEventListener("load", () => fold(300));

  // viser's page comes back by itself to the studio that it knows; what it lacks are words. To another studio
  // at the same address, one that was started anew, it is led by coming again.
  const banner = document.createElement("div");
  banner.id = "skyrig-lost";
  banner.dataset.readout = "lost";
  banner.setAttribute("role", "alert");
  const words = "The studio does not answer: what you see is old. Trying again …";
  const alive = location.pathname.replace(/\/$/, "") + "/alive";
  let known = "";
  const look = async () => {
    let lost = false;
    try {
      const answer = await fetch(alive, { cache: "no-store", signal: AbortSignal.timeout(8000) });
      lost = !answer.ok;
      const mark = lost ? known : await answer.text();
      if (known && mark !== known) return location.reload();
      known = mark;
    } catch {
      lost = true;
    }
    if (document.body && !banner.isConnected) document.body.append(banner);
    banner.textContent = lost ? words : "";
    setTimeout(look, lost ? 1000 : 2500);
  };
  look();

  // A number that is emptied is again what it was: an empty one is told to nobody.
  let before = "";
  const number = (it) => it instanceof HTMLInputElement && ["decimal", "numeric"].includes(it.inputMode);
  addEventListener("focusin", ({ target }) => { if (number(target)) before = target.value; });
  addEventListener("focusout", ({ target }) => {
    if (!number(target) || target.value !== "") return;
    Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value").set.call(target, before);
    target.dispatchEvent(new Event("input", { bubbles: true }));
  });

  // Left and right move the time, not the camera too; and what has the keys itself keeps them.
  const own = "[role=slider], [role=tab], [role=combobox], [role=option], [role=menuitem], [contenteditable]";
  document.documentElement.addEventListener("keydown", (event) => {
    const arrow = event.code === "ArrowLeft" || event.code === "ArrowRight";
    const held = event.target instanceof Element && event.target.closest(own);
    if (held && (arrow || event.code === "Space")) event.stopImmediatePropagation();
    else if (arrow || (event.code === "Space" && event.target instanceof HTMLButtonElement)) event.stopPropagation();
  });
})();
