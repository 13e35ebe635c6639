// Which sections a person likes folded away, kept in the browser; a link says it for who opens it.

const KEY = 'trainwarden.scalars.folded';
const MOST_KEPT = 200;

export function keptFolds(): Map<string, boolean> {
  try {
    const kept: unknown = JSON.parse(localStorage.getItem(KEY) ?? '[]');
    return new Map(Array.isArray(kept) ? (kept as [string, boolean][]) : []);
  } catch {
    return new Map(); // refused, or not ours
  }
}

export function keepFold(section: string, isFolded: boolean): void {
  const kept = keptFolds();
  kept.delete(section); // the newest stand last
  kept.set(section, isFolded);
  try {
    localStorage.setItem(KEY, JSON.stringify([...kept].slice(-MOST_KEPT)));
  } catch {
    // A browser that keeps nothing still has the link.
  }
}
