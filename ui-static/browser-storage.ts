/** What the page stores in this browser. If the person blocks storage, it lasts as long as the page. */
export const browserStorage: Pick<Storage, 'getItem' | 'setItem' | 'removeItem'> = openBrowserStorage();

function openBrowserStorage(): typeof browserStorage {
  try {
    return localStorage;
  } catch {
    // the person blocks storage for sites
    const held = new Map<string, string>();
    return {
      getItem: (key) => held.get(key) ?? null,
      setItem: (key, value) => void held.set(key, value),
      removeItem: (key) => void held.delete(key),
    };
  }
}
