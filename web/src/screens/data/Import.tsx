// A file is chosen, its columns are matched, every row is tried, and then it is imported as it was tried.
import { Alert, Autocomplete, Button, FileButton, Group, Select, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import { IconFileSpreadsheet } from "@tabler/icons-react";
import { useRef, useState, type DragEvent } from "react";
import { Link } from "react-router";

import { useWorkspace, useWorkspaceId } from "../../api/me";
import { Loading } from "../../ui/Loading";
import { Section } from "../../ui/Section";
import { zones } from "../../ui/zones";
import { count } from "../../ui/words";
import { columnWords } from "./columns";
import { headersOf } from "./headers";
import { Rows } from "./Rows";
import { useColumns, useImport, useTrial, type Order, type Report } from "./useImport";

const HEAD = 100_000; // bytes in which the first row ends

export function Import({ mayImport }: { mayImport: boolean }) {
  const workspace = useWorkspace();
  const [chosen, setChosen] = useState<{ file: File; headers: string[] } | null>(null);
  const [mapping, setMapping] = useState<Record<string, string>>({});
  const [zone, setZone] = useState<string | null>(null);
  const [whole, setWhole] = useState(false);
  const [result, setResult] = useState<Report | null>(null);
  const inZone = zone ?? workspace.data?.zone ?? "UTC";
  const order: Order | null = chosen === null || !zones.includes(inZone) ? null : { file: chosen.file, mapping, zone: inZone, whole };
  const trial = useTrial(result === null ? order : null);
  const run = useImport((report) => !report.taken_back && setResult(report));
  const open = async (file: File | null | undefined) => {
    if (file === null || file === undefined) return;
    const headers = headersOf(await file.slice(0, HEAD).text());
    setMapping({});
    setResult(null);
    setChosen({ file, headers });
  };
  if (!mayImport) {
    return (
      <Section title="Import">
        <Text size="sm" c="dimmed">
          Editors of the workspace can import posts.
        </Text>
      </Section>
    );
  }
  return (
    <Section title="Import" says="A CSV file, one post a row, its first row names the columns. Nothing is made before you have seen what becomes of every row.">
      <Choose file={chosen?.file ?? null} onOpen={(file) => void open(file)} />
      {chosen !== null && result === null && (
        <>
          <Matching headers={chosen.headers} matched={trial.data?.columns ?? {}} mapping={mapping} onChange={setMapping} />
          <Group align="flex-end">
            <Autocomplete label="Times without a zone are of" data={zones} limit={20} value={inZone} onChange={setZone} error={zones.includes(inZone) ? null : "There is no such zone"} />
            <Switch mb={8} label="All or nothing: one wrong row, and no post is made" checked={whole} onChange={(event) => setWhole(event.currentTarget.checked)} />
          </Group>
          {trial.error !== null && (
            <Alert color="red" role="alert" title="This file cannot be read as it is">
              {trial.error.message}
            </Alert>
          )}
          {trial.isPending && order !== null && <Loading rows={3} />}
          {trial.error === null && trial.data !== undefined && (
            <Stack aria-busy={trial.isFetching}>
              <Summary report={trial.data} whole={whole} />
              <Rows report={trial.data} zone={inZone} />
              <Group justify="flex-end">
                <Button
                  disabled={order === null || trial.isPlaceholderData || trial.data.done.every((each) => each.again) || (whole && trial.data.problems.length > 0)}
                  loading={run.isPending}
                  onClick={() => order !== null && run.mutate(order)}
                >
                  {buttonWords(trial.data, whole)}
                </Button>
              </Group>
            </Stack>
          )}
        </>
      )}
      {result !== null && <Imported report={result} zone={inZone} />}
    </Section>
  );
}

function Choose({ file, onOpen }: { file: File | null; onOpen: (file: File | null | undefined) => void }) {
  const reset = useRef<() => void>(null);
  const drop = (event: DragEvent) => {
    event.preventDefault();
    onOpen(event.dataTransfer.files[0]);
  };
  return (
    <Group gap="sm" p="md" onDragOver={(event) => event.preventDefault()} onDrop={drop} style={{ border: "1px dashed var(--mantine-color-default-border)", borderRadius: 8 }}>
      <FileButton
        accept=".csv,text/csv"
        resetRef={reset}
        onChange={(next) => {
          onOpen(next);
          reset.current?.(); // else the same file, changed meanwhile, cannot be chosen again
        }}
      >
        {(props) => (
          <Button {...props} variant="default" leftSection={<IconFileSpreadsheet size={16} aria-hidden />}>
            {file === null ? "Choose a CSV file" : "Choose another file"}
          </Button>
        )}
      </FileButton>
      <Text size="sm" c="dimmed">
        {file === null ? "or drop it here" : file.name}
      </Text>
    </Group>
  );
}

interface MatchingProps {
  headers: string[];
  matched: Record<string, string>;
  mapping: Record<string, string>;
  onChange: (mapping: Record<string, string>) => void;
}

/** Which of the file's columns is which: found by name, changed by hand. */
function Matching({ headers, matched, mapping, onChange }: MatchingProps) {
  const columns = useColumns();
  return (
    <div role="group" aria-label="Columns">
      <Text fw={600} size="sm" mb={4}>
        Which column is which
      </Text>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        {(columns.data ?? []).map(({ name }) => (
          <Select
            key={name}
            size="xs"
            label={columnWords[name]?.name ?? name}
            description={columnWords[name]?.says}
            inputWrapperOrder={["label", "input", "description", "error"]}
            placeholder="Not in the file"
            clearable
            data={headers}
            value={(name in mapping ? mapping[name] : matched[name]) || null}
            onChange={(header) => onChange({ ...mapping, [name]: header ?? "" })}
          />
        ))}
      </SimpleGrid>
    </div>
  );
}

function Summary({ report, whole }: { report: Report; whole: boolean }) {
  const fresh = report.done.filter((each) => !each.again).length;
  const wrong = new Set(report.problems.map(({ row }) => row)).size;
  const stopped = whole && wrong > 0;
  return (
    <Alert color={stopped ? "red" : wrong > 0 ? "yellow" : "teal"} role="status" title={stopped ? "Nothing would be imported" : `${count(fresh, "post")} would be made`}>
      {wrong > 0 && `${count(wrong, "row")} cannot be taken as ${wrong === 1 ? "it is" : "they are"}. `}
      {report.again > 0 && `${count(report.again, "row")} ${report.again === 1 ? "was" : "were"} imported before and ${report.again === 1 ? "makes" : "make"} nothing new. `}
      {report.unknown.length > 0 && `Nothing is read from ${report.unknown.map((each) => `“${each}”`).join(", ")}. `}
      {wrong === 0 && report.again === 0 && report.unknown.length === 0 && "Every row can be taken."}
    </Alert>
  );
}

function buttonWords(report: Report, whole: boolean): string {
  const fresh = report.done.filter((each) => !each.again).length;
  const wrong = new Set(report.problems.map(({ row }) => row)).size;
  if (whole && wrong > 0) return "Import nothing while a row is wrong";
  return `Import ${count(fresh, "post")}${wrong > 0 ? `, leave out ${count(wrong, "row")}` : ""}`;
}

function Imported({ report, zone }: { report: Report; zone: string }) {
  const workspaceId = useWorkspaceId();
  return (
    <Stack>
      <Alert color="teal" role="status" title={`${count(report.made, "post")} imported`}>
        <Link to={`/w/${workspaceId}/drafts`}>Look at the posts</Link>
      </Alert>
      <Rows report={report} zone={zone} />
    </Stack>
  );
}
