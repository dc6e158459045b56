// Scrolling that follows new text while the reader is at the end, and leaves the reader alone otherwise.

// So near to the end counts as there, in pixels.
const NEAR = 48;

/**
 * Keeps `scroller` at the end of its `content` while it is there; else `below`, a button, says that there is more. What
 * `measure()` counts is news: what a reader unfolds is not, where it is more than the height.
 */
export function followEnd(scroller, content, below, measure = () => content.scrollHeight) {
  let atEnd = true;
  const isAtEnd = () => scroller.scrollHeight - scroller.scrollTop - scroller.clientHeight < NEAR;
  const toEnd = () => (scroller.scrollTop = scroller.scrollHeight);
  const seen = () => {
    atEnd = true;
    below.hidden = true;
    toEnd();
  };
  scroller.addEventListener("scroll", () => {
    atEnd = isAtEnd();
    if (atEnd) below.hidden = true;
  });
  let size = 0;
  const sized = new ResizeObserver((changes) => {
    const grown = measure() > size;
    size = measure();
    const isResized = changes.some(({ target }) => target === scroller);
    if (atEnd && (grown || isResized)) toEnd();
    else if (grown && !atEnd) below.hidden = false;
  });
  sized.observe(content);
  sized.observe(scroller);
  below.addEventListener("click", () => {
    seen();
    scroller.focus();
  });
  return { toEnd: seen };
}
