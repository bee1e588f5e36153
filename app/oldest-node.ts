/** Major and minor number of the oldest Node that runs this, as `engines` of package.json has it. */
export const OLDEST_NODE: readonly [major: number, minor: number] = [24, 15];
