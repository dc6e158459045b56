// Scrolls to new text while the reader is at the end of the conversation.

// The largest distance that counts as the end, in pixels.
const NEAR = 48;

/**
 * Keeps `scroller` at the end of its `content` while the reader is there; else shows the button `below`. `measure()` returns
 * the amount of text, so that unfolding a part does not count as new text.
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
    // If sizes have changed as well, the observer decides: the new end does not show where the reader was.
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
