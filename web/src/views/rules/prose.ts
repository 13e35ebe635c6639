// A rule's explanation: Markdown of our own, of which paragraphs, lists and `code` are used.
import { h, type Child } from '../../draw/dom';

function inline(text: string): Child[] {
  return text.split(/(`[^`]+`)/).map((part) => (/^`[^`]+`$/.test(part) ? h('code', {}, part.slice(1, -1)) : part));
}

export function prose(markdown: string): HTMLElement {
  const blocks = markdown.trim().split(/\n\s*\n/);
  return h(
    'div',
    { class: 'prose' },
    ...blocks.map((block) => {
      const lines = block.split('\n');
      if (lines.every((line) => /^(\s*[-*] |\s{2,})/.test(line))) {
        const items = block.split(/\n(?=\s*[-*] )/).map((item) => item.replace(/^\s*[-*] /, '').replace(/\s*\n\s*/g, ' '));
        return h('ul', {}, ...items.map((item) => h('li', {}, ...inline(item))));
      }
      return h('p', {}, ...inline(lines.map((line) => line.trim()).join(' ')));
    }),
  );
}
