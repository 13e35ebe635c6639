// What the keys of the page do. Views add their own (View.keys).
import type { KeyHelp } from '../views/view';

export const pageKeys: readonly KeyHelp[] = [
  { keys: '← →  or  [ ]', does: 'one step back, forward' },
  { keys: 'Shift + ← →', does: 'ten steps back, forward' },
  { keys: 'Home End', does: 'first step, newest step' },
  { keys: 'Space', does: 'play, pause; on a button that Tab has reached: press it' },
  { keys: 'L', does: 'follow the newest step' },
  { keys: 'D', does: 'compare with the step shown now; again: stop comparing' },
  { keys: 'N', does: 'next step at which a rule fired' },
  { keys: '/', does: 'search' },
  { keys: 'G, then a letter', does: 'go to a view; R: the list of runs' },
  { keys: 'E', does: 'export' },
  { keys: '?', does: 'this sheet' },
  { keys: 'Esc', does: 'close, clear' },
];

export type Command =
  | { do: 'move'; by: number }
  | { do: 'first' | 'last' | 'play' | 'live' | 'compare' | 'next-firing' | 'search' | 'export' | 'sheet' | 'escape' | 'go' };

/** null: none of the page's. Letters go by what is written on the key, so that every layout has them. */
export function commandOf(event: KeyboardEvent): Command | null {
  if (event.ctrlKey || event.metaKey || event.altKey) return null;
  const by = event.shiftKey ? 10 : 1;
  switch (event.key) {
    case 'ArrowLeft': case '[': return { do: 'move', by: -by };
    case 'ArrowRight': case ']': return { do: 'move', by };
    case '{': return { do: 'move', by: -10 };
    case '}': return { do: 'move', by: 10 };
    case 'Home': return { do: 'first' };
    case 'End': return { do: 'last' };
    case ' ': return { do: 'play' };
    case 'l': case 'L': return { do: 'live' };
    case 'd': case 'D': return { do: 'compare' };
    case 'n': case 'N': return { do: 'next-firing' };
    case '/': return { do: 'search' };
    case 'e': case 'E': return { do: 'export' };
    case '?': return { do: 'sheet' };
    case 'g': case 'G': return { do: 'go' };
    case 'Escape': return { do: 'escape' };
    default: return null;
  }
}

/** Does what has the focus use keys itself? */
export function takesKeys(target: EventTarget | null, key: string): boolean {
  if (!(target instanceof Element)) return false;
  if (target.closest('input:not([type="checkbox"], [type="radio"]), textarea, select, [contenteditable]')) return key !== 'Escape';
  if (key === ' ' || key === 'Enter') return target.closest('button, a, summary, input, [role="button"], [role="checkbox"]') !== null;
  if (/^(Arrow|Home|End|Page)/.test(key)) return target.closest('[role="slider"], [role="listbox"], [role="grid"], [role="tree"], input') !== null;
  return false;
}
