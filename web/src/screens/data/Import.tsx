// A file is chosen, its columns are matched, every row is tried, and then it is imported as it was tried.
import { Alert, Autocomplete, Button, FileButton, Group, Select, SimpleGrid, Stack, Switch, Text } from "@mantine/core";
import { IconFileSpreadsheet } from "@tabler/icons-react";
import { useRef, useState, type DragEvent } from "react";
import { Link } from "react-router";

import { useWorkspace, useWorkspaceId } from "../../api/me";
import { Loading } from "../../ui/Loading";
import { Section } from "../../ui/Section";
import { zones } from "../../ui/zones";
import { columnWords } from "./columns";
import { headersOf } from "./headers";
import { Rows } from "./Rows";
import { useColumns, useImport, useTrial, type Order, type Report } from "./useImport";
import { t } from "../../messages/data";

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
      <Section title={t("import")}>
        <Text size="sm" c="dimmed">
          {t("onlyEditorsCanImportPosts")}
        </Text>
      </Section>
    );
  }
  return (
    <Section title={t("import")} message={t("useACsvFileWithOne")}>
      <Choose file={chosen?.file ?? null} onOpen={(file) => void open(file)} />
      {chosen !== null && result === null && (
        <>
          <Matching headers={chosen.headers} matched={trial.data?.columns ?? {}} mapping={mapping} onChange={setMapping} />
          <Group align="flex-end">
            <Autocomplete label={t("timeZoneForTimesWithoutOne")} data={zones} limit={20} value={inZone} onChange={setZone} error={zones.includes(inZone) ? null : t("unknownTimeZone")} />
            <Switch mb={8} label={t("allOrNothingImportOnlyIf")} checked={whole} onChange={(event) => setWhole(event.currentTarget.checked)} />
          </Group>
          {trial.error !== null && (
            <Alert color="red" role="alert" title={t("cantReadThisFile")}>
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
            {file === null ? t("chooseACsvFile") : t("chooseAnotherFile")}
          </Button>
        )}
      </FileButton>
      <Text size="sm" c="dimmed">
        {file === null ? t("orDropItHere") : file.name}
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
    <div role="group" aria-label={t("columns")}>
      <Text fw={600} size="sm" mb={4}>
        {t("matchColumns")}
      </Text>
      <SimpleGrid cols={{ base: 2, md: 4 }} spacing="sm">
        {(columns.data ?? []).map(({ name }) => (
          <Select
            key={name}
            size="xs"
            label={columnWords[name]?.name ?? name}
            description={columnWords[name]?.message}
            inputWrapperOrder={["label", "input", "description", "error"]}
            placeholder={t("notInTheFile")}
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
    <Alert color={stopped ? "red" : wrong > 0 ? "yellow" : "teal"} role="status" title={stopped ? t("nothingWillBeImported") : t("postsWillBeImported", { fresh })}>
      {wrong > 0 && `${t("rowsWithProblems", { rows: wrong })} `}
      {report.again > 0 && `${t("rowsImportedBefore", { rows: report.again })} `}
      {report.unknown.length > 0 && `${t("ignoredColumns", { columns: report.unknown.map((each) => `“${each}”`).join(", ") })} `}
      {wrong === 0 && report.again === 0 && report.unknown.length === 0 && t("everyRowLooksGood")}
    </Alert>
  );
}

function buttonWords(report: Report, whole: boolean): string {
  const fresh = report.done.filter((each) => !each.again).length;
  const wrong = new Set(report.problems.map(({ row }) => row)).size;
  if (whole && wrong > 0) return t("fixTheRowsFirst");
  return t("importPosts", { fresh, wrong });
}

function Imported({ report, zone }: { report: Report; zone: string }) {
  const workspaceId = useWorkspaceId();
  return (
    <Stack>
      <Alert color="teal" role="status" title={t("postsImported", { made: report.made })}>
        <Link to={`/w/${workspaceId}/drafts`}>{t("viewPosts")}</Link>
      </Alert>
      <Rows report={report} zone={zone} />
    </Stack>
  );
}
