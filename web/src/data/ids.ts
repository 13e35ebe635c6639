// Ids: what the API calls runs and tensors, worked out from their names as the server does (src/ui/views/shelf.h).

/** FNV-1a of 64 bits over the name's UTF-8, as 16 hexadecimal digits. In two halves: numbers have 53 bits. */
export function idOf(name: string): string {
  let high = 0xcbf29ce4;
  let low = 0x84222325;
  for (const byte of new TextEncoder().encode(name)) {
    low = (low ^ byte) >>> 0;
    // times 2^40 + 0x1b3, modulo 2^64
    const product = low * 0x1b3;
    const carry = Math.floor(product / 0x100000000);
    high = (Math.imul(high, 0x1b3) + carry + (low << 8)) >>> 0;
    low = product >>> 0;
  }
  return high.toString(16).padStart(8, '0') + low.toString(16).padStart(8, '0');
}
