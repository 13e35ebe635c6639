// Theme: the colours of the page around the data, for who draws on a canvas. The page sets them as CSS variables
// (app/theme.css); a notebook may have none, then these are the light ones.

export interface Theme {
  dark: boolean;
  ground: string;
  surface: string;
  text: string;
  muted: string;
  line: string;
  accent: string;
  good: string;
  warn: string;
  bad: string;
}

const VARIABLES: Record<Exclude<keyof Theme, 'dark'>, [name: string, fallback: string]> = {
  ground: ['--ground', '#ffffff'],
  surface: ['--surface', '#f5f7f9'],
  text: ['--text', '#16202a'],
  muted: ['--muted', '#566472'],
  line: ['--line', '#c8d0d8'],
  accent: ['--accent', '#0b62a4'],
  good: ['--good', '#1b7a43'],
  warn: ['--warn', '#8a5a00'],
  bad: ['--bad', '#b3261e'],
};

export function themeOf(element: Element): Theme {
  const style = getComputedStyle(element);
  const theme = { dark: style.getPropertyValue('--dark').trim() === '1' } as Theme;
  for (const key of Object.keys(VARIABLES) as (keyof typeof VARIABLES)[]) {
    const [name, fallback] = VARIABLES[key];
    theme[key] = style.getPropertyValue(name).trim() || fallback;
  }
  return theme;
}

/** Calls when dark becomes light or light dark, as on paper, until the returned function is called. */
export function onThemeChange(listener: () => void): () => void {
  const observer = new MutationObserver(listener);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme'] });
  const system = matchMedia('(prefers-color-scheme: dark)');
  const paper = matchMedia('print');
  system.addEventListener('change', listener);
  paper.addEventListener('change', listener);
  return () => {
    observer.disconnect();
    system.removeEventListener('change', listener);
    paper.removeEventListener('change', listener);
  };
}

export function movesLittle(): boolean {
  return matchMedia('(prefers-reduced-motion: reduce)').matches;
}
