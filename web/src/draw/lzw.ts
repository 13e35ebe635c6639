// LZW as GIF has it: codes of growing width, the low bits first, which begin anew when there are 4,096.
const MOST_CODES = 4096;
const SLOTS = 1 << 13; // twice as many as codes, so that few collide

class Bits {
  private bytes = new Uint8Array(1 << 16);
  private length = 0;
  private held = 0;
  private heldBits = 0;

  put(code: number, width: number): void {
    this.held |= code << this.heldBits;
    this.heldBits += width;
    while (this.heldBits >= 8) this.putByte();
  }

  finish(): Uint8Array {
    if (this.heldBits > 0) this.putByte();
    return this.bytes.subarray(0, this.length);
  }

  private putByte(): void {
    if (this.length === this.bytes.length) {
      const larger = new Uint8Array(2 * this.length);
      larger.set(this.bytes);
      this.bytes = larger;
    }
    this.bytes[this.length++] = this.held & 255;
    this.held >>>= 8;
    this.heldBits = Math.max(0, this.heldBits - 8);
  }
}

/** The codes of what has been seen: of a code and the value that follows it. */
class Seen {
  private readonly keys = new Int32Array(SLOTS).fill(-1);
  private readonly codes = new Uint16Array(SLOTS);
  private slot = 0;

  clear(): void {
    this.keys.fill(-1);
  }

  /** Its code, or -1. */
  find(prefix: number, value: number): number {
    const key = (prefix << 8) | value;
    this.slot = Math.imul(key, 0x9e3779b1) >>> 19;
    while (this.keys[this.slot] !== -1) {
      if (this.keys[this.slot] === key) return this.codes[this.slot]!;
      this.slot = (this.slot + 1) & (SLOTS - 1);
    }
    return -1;
  }

  /** What was not found just now. */
  add(prefix: number, value: number, code: number): void {
    this.keys[this.slot] = (prefix << 8) | value;
    this.codes[this.slot] = code;
  }
}

/** `values` are below 2 to the power of `bits`. */
export function lzw(values: Uint8Array, bits: number): Uint8Array {
  const [clear, end] = [1 << bits, (1 << bits) + 1];
  const [out, seen] = [new Bits(), new Seen()];
  let [width, next] = [bits + 1, end + 1];
  out.put(clear, width);
  let prefix = values[0]!;
  for (let i = 1; i < values.length; i++) {
    const value = values[i]!;
    const found = seen.find(prefix, value);
    if (found >= 0) {
      prefix = found;
      continue;
    }
    out.put(prefix, width);
    if (next === MOST_CODES) {
      out.put(clear, width);
      seen.clear();
      [width, next] = [bits + 1, end + 1];
    } else {
      seen.add(prefix, value, next++);
      if (next > 1 << width && width < 12) width++;
    }
    prefix = value;
  }
  out.put(prefix, width);
  // A reader makes a code of the last one, too, and may read the end in a wider form.
  if (next + 1 > 1 << width && width < 12) width++;
  out.put(end, width);
  return out.finish();
}
