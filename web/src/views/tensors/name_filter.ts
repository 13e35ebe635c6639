// What a search finds: "/a|b$/" is a regular expression, "*.weight" a pattern with * and ?, else a part of the name.
export interface NameFilter {
  finds(name: string): boolean;
  /** Why it is no search, for people. */
  fault?: string;
}

export function nameFilter(text: string): NameFilter {
  const wanted = text.trim();
  if (wanted === '') return { finds: () => true };
  if (wanted.startsWith('/') && wanted.length > 1) {
    const source = wanted.replace(/^\//, '').replace(/\/$/, '');
    try {
      const expression = new RegExp(source, 'u');
      return { finds: (name) => expression.test(name) };
    } catch (error) {
      return { finds: () => false, fault: `no regular expression: ${(error as Error).message}` };
    }
  }
  if (/[*?]/.test(wanted)) {
    const source = wanted.replace(/[.+^${}()|[\]\\/]/g, '\\$&').replace(/\*/g, '.*').replace(/\?/g, '.');
    const expression = new RegExp(`^${source}$`, 'isu');
    return { finds: (name) => expression.test(name) };
  }
  const words = wanted.toLowerCase().split(/\s+/);
  return { finds: (name) => words.every((word) => name.toLowerCase().includes(word)) };
}
