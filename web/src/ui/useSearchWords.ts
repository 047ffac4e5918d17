import { useSearchParams } from "react-router";

/** What a list is searched by, kept in its address; an empty word takes the name away. */
export function useSearchWords(): [URLSearchParams, (name: string, value: string | null) => void] {
  const [search, setSearch] = useSearchParams();
  const set = (name: string, value: string | null) =>
    setSearch(
      (old) => {
        if (value === null || value === "") old.delete(name);
        else old.set(name, value);
        return old;
      },
      { replace: true },
    );
  return [search, set];
}
