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
