// whenSeen(): what costs something is done when somebody looks at it, not before.

/** Calls once, when the element is nearly seen. Gives what calls it off. */
export function whenSeen(element: Element, act: () => void): () => void {
  if (typeof IntersectionObserver === 'undefined') {
    act();
    return () => {};
  }
  const observer = new IntersectionObserver((entries) => {
    if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
    observer.disconnect();
    act();
  }, { rootMargin: '300px' });
  observer.observe(element);
  return () => observer.disconnect();
}
