/** What the page keeps in this browser; where the person keeps sites from storing anything, as long as the page lasts. */
export const kept: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = storeOf();

function storeOf(): typeof kept {
  try {
    return localStorage;
  } catch {
    // the person keeps sites from storing anything
    const held = new Map<string, string>();
    return {
      getItem: (key) => held.get(key) ?? null,
      setItem: (key, value) => void held.set(key, value),
      removeItem: (key) => void held.delete(key),
    };
  }
}
