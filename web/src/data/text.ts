// Texts from a run (names, tokens, messages) are somebody else's: they may hold characters that reorder, hide or break
// the text around them.

// Control characters; marks that change the direction of text; a byte order mark and invisible operators; lone halves of
// a surrogate pair. Joiners (U+200C, U+200D) stay: scripts and emoji need them.
const TRICKY = /[\p{Cc}\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]|\p{Cs}/gu;

/** The text as it may be shown: each tricky character as its code, "\u{202e}". Two texts that differ look different. */
export function shown(text: string): string {
  return text.replace(TRICKY, (c) => (c === '\n' ? '⏎' : c === '\t' ? '⇥' : `\\u{${c.codePointAt(0)!.toString(16)}}`));
}

let collator: Intl.Collator | undefined;

/** Numbers within texts by their size: "layer.2" before "layer.10". */
export function compareTexts(a: string, b: string): number {
  // One for all: localeCompare() would make one for each pair. Not before it is needed: the browser then reads its tables
  // of languages, for 20 ms and more.
  collator ??= new Intl.Collator('en', { numeric: true });
  return collator.compare(a, b);
}

/** At most `most` characters: the middle makes way, because names differ at their ends. */
export function shortened(text: string, most: number): string {
  const characters = [...text];
  if (characters.length <= most) return text;
  const head = Math.ceil((most - 1) / 2);
  return `${characters.slice(0, head).join('')}…${characters.slice(characters.length - (most - 1 - head)).join('')}`;
}
