"""Find forms in a Czech clause that give away the grammatical gender of its speaker.

A statement that is put after "Řekla, že souhlasí s tím, že …" and after "Řekl, že souhlasí s tím, že …" must not fix
that gender itself. `speaker_gender` returns the suspicious words of a clause, in their order:

1. first person: an l-participle, a predicative adjective, a passive participle or a gendered noun beside a first-person
   form of *být* or a verb such as *cítím se* ("bych chtěla", "jsem spokojen", "cítím se silná", "jsem žena");
2. anywhere: *rád*, *ráda*, *nerad*, *nerada*, *sám*, *sama*, whoever the subject is: reword such a clause;
3. reported speech: a singular l-participle, or an adjective or participle after *je*, *není*, *být* and the like, that
   has no subject of its gender, so that the subject would be the person reported ("měla by mít právo", "je hrdý na
   svou zemi").

There is no dictionary behind it, only endings and short lists. It errs on the side of reporting: a subject after its
verb counts only where it is one of a few common nouns ("měla by vláda"), and a subject in another clause never ("vláda
je tu, aby jednala"), so name the subject first. It misses a speaker behind a noun that could be subject or object ("dům
koupil") and in a relative clause whose pronoun agrees with the verb ("byt, který koupil"). It is an aid to reading and
no substitute for it.
"""

from __future__ import annotations

import re
import unicodedata


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


FIRST = _set("jsem nejsem budu nebudu bych abych kdybych jsme nejsme budeme nebudeme bychom abychom kdybychom bysme")
FIRST_PLURAL = _set("jsme nejsme budeme nebudeme bychom abychom kdybychom bysme")
FEELING = _set("cítím necítím připadám nepřipadám považuji považuju zůstanu zůstávám stanu stávám")
ALWAYS = _set("rád ráda nerad nerada sám sama")
COPULA = _set(
    """je není bude nebude byl byla nebyl nebyla bývá nebývá být nebýt zůstat zůstává zůstane stane stává cítí necítí
    připadá považuje"""
)
SPEAKER_NOUNS = _set(
    """muž žena kluk holka otec matka táta máma syn dcera bratr sestra dědeček babička občan občanka učitel učitelka
    volič volička vlastenec vlastenka odpůrce odpůrkyně zastánce zastánkyně dělník dělnice lékař lékařka
    student studentka důchodce důchodkyně"""
)
PREPOSITIONS = _set(
    """bez beze do k ke ku kolem kromě mezi mimo místo na nad nade naproti o od ode okolo po pod pode podle pro proti
    před přede přes při s skrz u uprostřed v ve včetně vedle vůči z za ze díky kvůli během uvnitř pomocí"""
)
RELATIVE = re.compile(r"(kter|jak(ý|á|é)|čí)\w*|jenž|jež|jehož|jejíž|jejichž|kde|kam|kdo|co")
CONJUNCTIONS = _set(
    """že aby abych abychom kdyby kdybych kdybychom když protože pokud jestli zda ale a i ani nebo ať než neboť proto
    takže"""
)
# Words that are never the subject sought: finite verbs, adverbs, particles, clitics, pronouns in other cases, times.
NO_SUBJECT = CONJUNCTIONS | _set(
    """má nemá mají nemají chce nechce může nemůže smí nesmí musí nemusí umí neumí dovede dokáže jde lze nelze jsou
    nejsou budou ať buď jak jako jakmile jen jenom jenže kde kdy kam li přestože přitom sice tak také tedy
    totiž však zatímco by si se ho mu jí ji jej jim mě mně mi mne tě ti nám nás vám vás svůj svou svého svému
    svém svým své už již ještě vždy vždycky nikdy někdy občas často pořád stále zase znovu opět teď nyní dnes
    včera zítra dříve dřív později potom pak nejdřív doma venku tam tady tu zde sem jinde všude nikde někde
    velmi moc příliš hodně málo trochu docela zcela úplně plně vůbec spíš spíše asi možná snad určitě jistě
    opravdu skutečně vlastně prý hlavně především raději radši ráno večer dlouho brzy rychle pomalu dobře
    špatně lépe líp hůře hůř více víc méně míň nejvíce nejvíc nejlépe ne ano rovněž třeba nutně jinak stejně
    právě zrovna dávno den týden měsíc rok čas celý celá celou tehdy to"""
)
NO_ADJECTIVE = _set(
    """který která jaký jaká každý každá žádný žádná celý celá dá má nemá dává bývá zůstává stává dnes den týden
    jeden leden duben červen kámen kořen pramen sen cena žena změna scéna strana hrana brána rána vrána stěna
    výměna ozvěna odměna pěna kmen plamen ona kolena semena ramena jména plán román pán orgán oceán banán
    fontána dovolená podívaná vrátný"""
)
# Nouns, adverbs and particles that end like an l-participle.
NO_PARTICIPLE = _set(
    """skála škála chvála šála hala kapela novela včela parcela karamela postel koupel ocel vila kobyla mohyla
    formula jehla cihla mlha perla těla zcela docela skla festival karneval signál sál bál dál žal obal
    kapitál materiál ideál originál personál pedál sandál terminál kanál liberál manuál regál rituál seriál
    nával zával příval interval minerál generál metál hotel motel model panel tunel orel posel kašel uhel
    popel kotel úhel anděl email mail detail profil automobil mobil styl fosil titul konzul modul mysl smysl
    nesmysl průmysl úmysl výmysl pytel manžel volejbal fotbal basketbal král bicykl artikl šakal mandl uzel
    jestli neděli cibuli mysli hotely modely vily včely kapely skály styly tituly"""
)
SHORT_ADJECTIVES = {
    "l": _set("zdráv šťasten vděčen jist hotov živ syt zvědav ochoten schopen povinen hoden dojat zaujat vinen"),
    "la": _set(
        "zdráva šťastna vděčna jista hotova živa syta zvědava ochotna schopna povinna hodna dojata zaujata vinna"
    ),
}
# Subjects that count even after their verb: no case but the nominative looks like these.
CERTAIN = {
    "l": _set("člověk prezident ministr soudce lékař učitel zaměstnavatel soused otec muž on někdo nikdo každý kdo"),
    "la": _set("vláda rodina škola většina menšina polovina žena matka ona ta"),
}
ENDING_IN_T = _set("stát svět byt plat prezident student kabinet klient")  # nouns that end like an infinitive
ADJECTIVE_IN_CASE = tuple(sorted(_set("ý á é ého ému ém ým ou ých ými í ího ímu ím ích ími")))
WORD = re.compile(r"[^\W\d_]+")


def participle(word: str) -> str:
    """The ending l, la, lo, li or ly of what may be an l-participle, else an empty string."""
    match = re.fullmatch(r"(\w+?)(l|la|lo|li|ly)", word)
    if not match or word in NO_PARTICIPLE or match[1] + "l" in NO_PARTICIPLE or len(match[1]) < 2:
        return ""
    stem, ending = match.groups()
    if ending == "l" and stem.endswith("te"):  # učitel, přítel
        return ""
    if re.search(r"[aáieěyukhsštzbp]$|(ved|jed|pad|krad|sed|něd|bod|hod)$", stem):
        return ending
    return ""


def predicate(word: str) -> str:
    """The gender, as l or la, of what may be a predicative adjective or passive participle, else an empty string."""
    if word in NO_ADJECTIVE or word in NO_SUBJECT or word in PREPOSITIONS or len(word) < 4:
        return ""
    if word in SHORT_ADJECTIVES["l"] or re.search(r"ý$|[eá]n$|nut$", word):
        return "l"
    if word in SHORT_ADJECTIVES["la"] or re.search(r"á$|[eá]na$|nuta$", word):
        return "la"
    return ""


def prepositional(words: list[str]) -> list[bool]:
    """For each word whether it stands in a prepositional phrase: the preposition, its adjectives and its first noun."""
    inside = [False] * len(words)
    i = 0
    while i < len(words):
        following = words[i + 1] if i + 1 < len(words) else ""
        with_se = words[i] == "se" and re.fullmatch(r"(mnou|[szšž]\w*(em|ou|ím|ým|mi|y))", following)
        if words[i] in PREPOSITIONS or with_se:
            inside[i] = True
            i += 1
            while i < len(words) and words[i].endswith(ADJECTIVE_IN_CASE) and words[i] not in COPULA:
                inside[i] = True
                i += 1
            if i < len(words) and not participle(words[i]) and words[i] not in COPULA | FIRST | NO_SUBJECT:
                inside[i] = True
                i += 1
        else:
            i += 1
    return inside


def nominative(word: str, gender: str) -> bool:
    """True if the word looks like a nominative singular noun or pronoun of this gender."""
    if word in CERTAIN[gender] or (gender == "l" and word in ENDING_IN_T):
        return True
    if word in NO_SUBJECT | PREPOSITIONS | FIRST | COPULA | ALWAYS or participle(word):
        return False
    if word in ("který", "jaký", "jenž"):
        return gender == "l"
    if word in ("která", "jaká", "jež"):
        return gender == "la"
    if predicate(word) or re.search(r"([aeiyuáéíýě]|ou)t$|(uje|ují|eme|íme|áme|ám|ím)$", word):  # adjectives and verbs
        return False
    if gender == "l":
        return bool(re.search(r"[bcčdďfgjklmnňprřsštťvzž]$|[^c]h$|[^eáí]ch$|ista$|[^e]ce$", word))
    return bool(re.search(r"(a|e|ě|st|ň|ř|ž|c|č|š|ď|ť)$", word))


def has_subject(words: list[str], at: int, gender: str) -> bool:
    inside = prepositional(words)
    before = any(nominative(w, gender) and not inside[i] for i, w in enumerate(words[:at]))
    return before or any(w in CERTAIN[gender] and not inside[at + 1 + i] for i, w in enumerate(words[at + 1 :]))


def clauses(text: str) -> list[list[str]]:
    """The words of each clause; what follows a relative clause is joined to what preceded it."""
    done: list[list[str]] = []
    after_relative = False
    main = 0
    for stretch in re.split(r"[,;:.!?()\u201e\u201c\u201d\u2013\u2014]", text):
        words = WORD.findall(stretch)
        if not words:
            continue
        low = [w.lower() for w in words]
        head = low[1] if low[0] in PREPOSITIONS and len(low) > 1 else low[0]
        if done and RELATIVE.fullmatch(head):
            done.append(words)
            after_relative = True
        elif after_relative and low[0] not in CONJUNCTIONS:
            done[main] += words
            after_relative = False
        else:
            done.append(words)
            main = len(done) - 1
            after_relative = False
    return done


def speaker_gender(text: str) -> list[str]:
    """The words of a Czech clause that mark, or may mark, the gender of its speaker; empty when there are none."""
    found: list[str] = []
    for shown in clauses(unicodedata.normalize("NFC", text)):
        words = [w.lower() for w in shown]
        inside = prepositional(words)
        plural = any(w in FIRST_PLURAL for w in words)
        first = any(w in FIRST for w in words)
        feeling = any(w in FEELING for w in words)
        for i, word in enumerate(words):
            kind, state = participle(word), predicate(word)
            suspicious = word in ALWAYS
            if first and kind and (plural or kind in ("l", "la", "lo")):
                suspicious = True
            if (first or feeling) and not inside[i] and (state or word in SPEAKER_NOUNS):
                suspicious = True
            if not first and kind in ("l", "la") and not inside[i] and not has_subject(words, i, kind):
                suspicious = True
            if not first and state and not inside[i] and any(w in COPULA for w in words[:i]):
                # "je krásná zima" has its subject after the adjective; "je hrdá na …" and "… být bohatá" have none
                short = not word.endswith(("ý", "á"))
                last = i + 1 == len(words)
                bare = short or last or words[i + 1] in PREPOSITIONS | NO_SUBJECT | COPULA
                if bare and not has_subject(words, i, state):
                    suspicious = True
            if suspicious:
                found.append(shown[i])
    return found
