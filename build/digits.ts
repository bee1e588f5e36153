/**
 * Digits and marks as strokes in a box of 10 x 14, so that no font is needed and the pixels are the same on every machine.
 * Drawn with round ends; `width` is what the strokes cover, for spacing.
 */
export const DIGITS: Readonly<Record<string, { readonly d: string; readonly width: number }>> = {
  '1': { d: 'M1 3.4 4.4 1V13', width: 5.4 },
  '2': { d: 'M1 4.4A3.9 3.5 0 1 1 7.6 6.6L1 13H9', width: 10 },
  '3': { d: 'M1.2 1H8.4L4.8 5.4A3.9 3.9 0 1 1 1 11.4', width: 9.6 },
  '4': { d: 'M6.8 13V1L1 9.4H9.4', width: 10 },
  '5': { d: 'M8.2 1H2.2L1.6 6.2A3.9 3.8 0 1 1 1 11.6', width: 9.6 },
  '6': { d: 'M7.4 1C3.6 3 1 6 1 9.2A3.95 3.8 0 1 0 8.9 9.2 3.95 3.7 0 0 0 1.2 8.2', width: 9.9 },
  '7': { d: 'M1 1H9L4.2 13', width: 10 },
  '8': { d: 'M5 6.4A2.7 2.7 0 1 1 5.01 6.4ZM5 13A3.5 3.3 0 1 1 5.01 13Z', width: 10 },
  '9': { d: 'M2.6 13C6.4 11 9 8 9 4.8A3.95 3.8 0 1 0 1.1 4.8 3.95 3.7 0 0 0 8.8 5.8', width: 9.9 },
  '!': { d: 'M1 1V8.2M1 13V13.01', width: 2 },
  '+': { d: 'M1 7H8M4.5 3.5V10.5', width: 9 },
};
