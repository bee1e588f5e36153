/** What the page keeps in this browser; where the person keeps sites from storing anything, as long as the page lasts. */
export const browserStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = openBrowserStorage();

function openBrowserStorage(): typeof browserStorage {
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
