// Tokens as people read them.

const SPECIAL = /^(\[[A-Z_0-9]+\]|<\/?[a-z_]+>|<\|[^|]+\|>|<[a-z]+_\d+>)$/;

/** [CLS], [SEP], <s>, </s>, <pad>, <|endoftext|> and their like: for the model, not of the text. */
export function isSpecial(token: string | undefined): boolean {
  return token !== undefined && (token === '' || SPECIAL.test(token)); // an empty one is padding
}

/** Does the token go on with the word before it? WordPiece writes ##ing, byte pairs and SentencePiece mark beginnings. */
export function continuesWord(token: string, marksBeginnings: boolean): boolean {
  if (token.startsWith('##')) return true;
  return marksBeginnings && !/^[Ġ▁]/.test(token) && !isSpecial(token);
}

export function marksBeginnings(tokens: readonly string[]): boolean {
  return tokens.some((token) => /^[Ġ▁]/.test(token));
}

/** A token within a running text: without the marks of its piece. */
export function readable(token: string): string {
  return token.replace(/^##/, '').replace(/^[Ġ▁]/, '').replace(/Ċ/g, '↵');
}

/** Indices of the pieces of each word. A piece never goes on with a special token. */
export function groupsOf(tokens: readonly string[]): number[][] {
  const marks = marksBeginnings(tokens);
  const groups: number[][] = [];
  tokens.forEach((token, index) => {
    const joins = index > 0 && continuesWord(token, marks) && !isSpecial(tokens[index - 1]);
    if (joins) groups.at(-1)!.push(index);
    else groups.push([index]);
  });
  return groups;
}

export function wordOf(tokens: readonly string[], pieces: readonly number[]): string {
  const [first] = pieces;
  if (pieces.length === 1) return tokens[first!]!; // as it is in the run
  return pieces.map((piece) => readable(tokens[piece]!)).join('');
}

const SEPARATORS: ReadonlySet<string> = new Set(['[SEP]', '</s>', '<sep>', '<|sep|>']);

/** How many tokens the first sentence has, its separator among them; null: no separator says that there is a second. */
export function firstSentence(tokens: readonly string[] | null): number | null {
  const separator = (tokens ?? []).findIndex((token, at) => at > 0 && SEPARATORS.has(token));
  const size = separator + 1;
  if (separator < 0 || !tokens) return null;
  return tokens.slice(size).some((token) => !isSpecial(token)) ? size : null;
}
