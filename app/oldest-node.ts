/** The oldest Node that runs this program, the same version as `engines` in package.json. */
export const OLDEST_NODE: readonly [major: number, minor: number] = [24, 15];
