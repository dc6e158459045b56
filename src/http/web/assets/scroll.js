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
  let size = 0;
  let height = 0;
  let room = 0;
  scroller.addEventListener("scroll", () => {
    // Sizes have changed in the same moment, and the observer decides, which is called next: where the end is now says
    // nothing of where the reader was.
    if (content.scrollHeight !== height || scroller.clientHeight !== room) return;
    atEnd = isAtEnd();
    if (atEnd) below.hidden = true;
  });
  const sized = new ResizeObserver(() => {
    const grown = measure() > size;
    const isResized = scroller.clientHeight !== room;
    size = measure();
    height = content.scrollHeight;
    room = scroller.clientHeight;
    if (atEnd && (grown || isResized)) toEnd();
    else if (grown) below.hidden = false;
    else if (!isResized) atEnd = isAtEnd();
  });
  sized.observe(content);
  sized.observe(scroller);
  below.addEventListener("click", () => {
    seen();
    scroller.focus();
  });
  return { toEnd: seen };
}
