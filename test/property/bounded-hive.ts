import { Fault } from '../../core/model/index.ts';

/** One thing a hive does to an answer. None of them is a lie that nobody could find out. */
export type Trouble =
  | 'none'
  | 'broken'
  | 'garbage'
  | 'cut'
  | 'twice'
  | 'none-older'
  | 'nothing-withheld'
  | 'below-oldest'
  | 'above-oldest'
  | 'empty-points-back'
  | 'no-continuation'
  | 'odd-continuation'
  | 'odd-flags'
  | 'no-fields'
  | 'same-again'
  | 'shuffled';

export const TROUBLES: readonly Trouble[] = [
  'none',
  'broken',
  'garbage',
  'cut',
  'twice',
  'none-older',
  'nothing-withheld',
  'below-oldest',
  'above-oldest',
  'empty-points-back',
  'no-continuation',
  'odd-continuation',
  'odd-flags',
  'no-fields',
  'same-again',
  'shuffled',
];

interface BoundedRow {
  readonly id: number;
  readonly from: string;
  readonly content: string;
  readonly created: string;
  readonly read: boolean;
}

/**
 * An inbox with windows in memory, as the bytes of its answers. Deliberately dumb: it is what a watch is held against.
 */
export class BoundedHive {
  readonly ids: number[] = [];
  window = 3;
  /** By size instead of by count: then how many rows are left out is said. */
  bySize = false;
  trouble: Trouble = 'none';
  /** Whether the trouble is with this page: 0 is the newest. */
  troubles: (page: number) => boolean = () => true;
  /** Whether this process was sent window fields: before, a page without any is a lie that nobody could find out. */
  isKnown = false;
  private page = 0;

  deliver(gap: number): number {
    const id = (this.ids.at(-1) ?? 0) + gap;
    this.ids.push(id);
    return id;
  }

  answer(path: string): Buffer {
    const { searchParams } = new URL(path, 'http://h');
    const before = searchParams.get('before_id');
    this.page = before === null ? 0 : this.page + 1;
    const trouble = this.troubles(this.page) ? this.trouble : 'none';
    if (trouble === 'broken') throw new Fault('broken', 'broken', { is: 'source', key: 'kijito' });
    if (trouble === 'garbage') return Buffer.from('<html>');
    const top = before === null ? Number.POSITIVE_INFINITY : Number(before);
    const text = JSON.stringify(this.envelope(top, trouble));
    return Buffer.from(trouble === 'cut' ? text.slice(0, -2) : text);
  }

  private envelope(top: number, trouble: Trouble): Record<string, unknown> {
    const all = this.ids.filter((id) => id < top);
    const shown = all.slice(-this.window);
    const withheld = all.length - shown.length;
    const oldest = shown[0] ?? null;
    const rows: BoundedRow[] = shown.map((id) => ({
      id,
      from: 'river',
      content: `mail ${id}`,
      created: 'c',
      read: false,
    }));
    const honest = {
      result: rows,
      truncated: withheld > 0 && !this.bySize,
      size_dropped: this.bySize ? withheld : 0,
      next_before_id: withheld > 0 ? oldest : null,
      unread_not_shown: withheld,
    };
    const isMore = withheld > 0;
    switch (trouble) {
      case 'twice':
        return { ...honest, result: [...rows, ...rows.slice(0, 1)] };
      case 'none-older':
        return isMore ? { ...honest, next_before_id: null } : honest;
      case 'nothing-withheld':
        return isMore ? { ...honest, truncated: false, size_dropped: 0 } : honest;
      case 'below-oldest':
        return isMore ? { ...honest, next_before_id: Math.max(1, (oldest ?? 2) - 1) } : honest;
      case 'above-oldest':
        return isMore ? { ...honest, next_before_id: (oldest ?? 0) + 1 } : honest;
      case 'empty-points-back':
        return isMore ? { ...honest, result: [] } : honest;
      case 'no-continuation': {
        const { next_before_id: _, ...rest } = honest;
        return rest;
      }
      case 'odd-continuation':
        return { ...honest, next_before_id: String(honest.next_before_id) };
      case 'odd-flags':
        return { ...honest, truncated: 'perhaps', size_dropped: -1 };
      case 'no-fields':
        if (this.isKnown) return { result: rows };
        break;
      case 'same-again':
        return { ...honest, result: this.ids.slice(-this.window).map((id) => ({ id })) };
      case 'shuffled':
        return { ...honest, result: rows.toReversed() };
      default:
        break;
    }
    this.isKnown = true;
    return honest;
  }
}
