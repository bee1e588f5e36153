/** The operating system this process runs on. */
export function getHostOs(): NodeJS.Platform {
  return process.platform;
}
