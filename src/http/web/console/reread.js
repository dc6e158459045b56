// Keeps a panel up to date: reads it again and again, and draws it without moving the focus.

/** Returns a function that calls `read()`. A call during a read starts one more after it, so that the newest answer comes last. */
export function oneAtATime(read) {
  let reading;
  let again = false;
  const readAll = async () => {
    do {
      again = false;
      await read();
    } while (again);
  };
  return () => {
    again = Boolean(reading);
    return (reading ??= readAll().finally(() => (reading = undefined)));
  };
}

/** Replaces the children of a panel. The focus stays on the element with the same `data-focus`, else on the panel. */
export function replaceKeepingFocus(body, ...children) {
  const focused = body.contains(document.activeElement) ? document.activeElement.dataset.focus ?? "" : undefined;
  body.replaceChildren(...children);
  if (focused !== undefined) (body.querySelector(`[data-focus="${CSS.escape(focused)}"]`) ?? body).focus();
}
