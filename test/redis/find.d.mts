/** The path of a Redis server, or undefined. */
export function findRedis(): string | undefined;
