// Tables and code that are wider than the screen are reached by keyboard, and named after the heading above them.
addEventListener("load", () => {
  const headings = [...document.querySelectorAll(".md-typeset :is(h1, h2, h3, h4)")];
  const above = (box) => headings.findLast((one) => one.compareDocumentPosition(box) & Node.DOCUMENT_POSITION_FOLLOWING);

  function mark(box) {
    const name = `${box.matches("code") ? "Code" : "Table"}: ${above(box)?.firstChild.textContent.trim() ?? document.title}`;
    const wide = box.scrollWidth > box.clientWidth;
    for (const [key, value] of Object.entries({ tabindex: "0", role: "group", "aria-label": name })) {
      if (wide) box.setAttribute(key, value);
      else box.removeAttribute(key);
    }
  }

  const sizes = new ResizeObserver((changed) => changed.forEach(({ target }) => mark(target)));
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) {
    mark(box);
    sizes.observe(box);
  }
});
