// Dark or light: as the system says, until the user says otherwise.

export type Choice = 'system' | 'light' | 'dark';

const KEY = 'trainwarden.theme';

export function chosenTheme(): Choice {
  try {
    const kept = localStorage.getItem(KEY);
    return kept === 'light' || kept === 'dark' ? kept : 'system';
  } catch {
    return 'system'; // a browser that keeps nothing
  }
}

export function applyTheme(choice: Choice): void {
  if (choice === 'system') delete document.documentElement.dataset['theme'];
  else document.documentElement.dataset['theme'] = choice;
}

export function chooseTheme(choice: Choice): void {
  applyTheme(choice);
  try {
    if (choice === 'system') localStorage.removeItem(KEY);
    else localStorage.setItem(KEY, choice);
  } catch {
    // what cannot be kept holds for this visit
  }
}
