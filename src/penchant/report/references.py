"""The bibliography: what the methods cite, as a line of text and as BibTeX.

Paragraphs cite as `[@salazar2020]` or `[@nangia2020; @blodgett2021]`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from penchant import __version__

MARK = re.compile(r"\[(@[a-z0-9]+(?:; @[a-z0-9]+)*)\]")
"""A citation in a paragraph; `keys` takes it apart."""

_TEX = str.maketrans(
    {"ý": r"{\'y}", "ř": r"{\v{r}}", "&": r"\&", "–": "--", "’": "'", "χ": r"$\chi$", "²": r"\textsuperscript{2}"}
)
_BARE = {"doi", "url"}
"""Fields that styles read letter by letter: nothing in them is escaped."""


@dataclass(frozen=True, slots=True)
class Reference:
    """A work that is cited. `kind` and the names of `fields` are BibTeX's; the values are Unicode text, authors as
    "Family, Given and Family, Given". Braces keep the capitals of a name, or an organisation in one piece."""

    key: str
    kind: str
    fields: Mapping[str, str]

    @property
    def short(self) -> str:
        """How it is named in a sentence: "Salazar et al. 2020"."""
        families = [family for family, _ in self._authors()]
        names = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
        return f"{names} {self.fields['year']}" if "year" in self.fields else names

    @property
    def text(self) -> str:
        """One line: authors, year, title, where it appeared, and its address."""
        people = [f"{given} {family}".strip() for family, given in self._authors()]
        names = " and ".join(filter(None, [", ".join(people[:-1]), people[-1]]))
        parts = [names, self.fields.get("year", ""), _plain(self.fields["title"]), self._venue()]
        line = " ".join(part if part[-1] in ".?!" else f"{part}." for part in parts if part)
        return f"{line} {self._address()}".rstrip()

    @property
    def bibtex(self) -> str:
        """The entry of a `.bib` file, in ASCII, for bibtex and biber."""
        lines = [
            f"  {name} = {{{value if name in _BARE else value.translate(_TEX)}}},"
            for name, value in self.fields.items()
        ]
        return "\n".join([f"@{self.kind}{{{self.key},", *lines, "}"])

    def _authors(self) -> Iterator[tuple[str, str]]:
        """Family and given names; an organisation has only the first."""
        for author in self.fields["author"].split(" and "):
            family, _, given = author.partition(", ")
            yield _plain(family), given

    def _venue(self) -> str:
        fields = self.fields
        issue = f"({fields['number']})" if "number" in fields else ""
        volume = f"{fields['volume']}{issue}" if "volume" in fields else ""
        of = fields.get("journal") or fields.get("booktitle") or fields.get("howpublished") or fields["publisher"]
        return ", ".join(filter(None, [of, volume, fields.get("pages", "")]))

    def _address(self) -> str:
        return f"https://doi.org/{self.fields['doi']}" if "doi" in self.fields else self.fields.get("url", "")


def _plain(text: str) -> str:
    return re.sub("[{}]", "", text)


def keys(mark: re.Match[str]) -> list[str]:
    """The keys that a `MARK` cites."""
    return [key.removeprefix("@") for key in mark[1].split("; ")]


def cited(paragraphs: Iterable[str]) -> list[Reference]:
    """What paragraphs cite, each work once, in the order of its first mark. Raises KeyError for an unknown key."""
    found = (key for paragraph in paragraphs for mark in MARK.finditer(paragraph) for key in keys(mark))
    return [REFERENCES[key] for key in dict.fromkeys(found)]


def unmarked(text: str) -> str:
    """The text with "(Salazar et al. 2020; …)" in place of its marks. Raises KeyError for an unknown key."""
    return MARK.sub(lambda mark: f"({'; '.join(REFERENCES[key].short for key in keys(mark))})", text)


def _acl(key: str, author: str, year: str, title: str, booktitle: str, pages: str, paper: str) -> Reference:
    """A paper of the ACL's proceedings; `paper` is its number in the Anthology."""
    where = {"booktitle": booktitle, "publisher": "Association for Computational Linguistics", "pages": pages}
    fields = {"author": author, "year": year, "title": title, **where, "doi": f"10.18653/v1/{paper}"}
    return Reference(key, "inproceedings", fields)


def _article(
    key: str, author: str, year: str, title: str, journal: str, volume: str, number: str, pages: str, doi: str
) -> Reference:
    where = {"journal": journal, "volume": volume, "number": number, "pages": pages, "doi": doi}
    fields = {"author": author, "year": year, "title": title, **where}
    return Reference(key, "article", {name: value for name, value in fields.items() if value})


_ALL = (
    Reference(
        "penchant",
        "misc",
        {
            "author": "{The penchant authors}",
            "title": "penchant: what a language model is inclined to say, with its uncertainty and its recipe",
            "howpublished": f"Computer program, version {__version__}",
        },
    ),
    Reference(
        "cuscito2024",
        "misc",
        {
            "author": "Cuscito, Miriam and Ferrara, Alfio and Ruskov, Martin",
            "year": "2024",
            "title": "How {BERT} Speaks {Shakespearean} {English}? {Evaluating} Historical Bias in Contextual Language "
            "Models",
            "howpublished": "arXiv:2402.05034",
            "url": "https://arxiv.org/abs/2402.05034",
        },
    ),
    Reference(
        "ueda2024",
        "inproceedings",
        {
            "author": "Ueda, Naoya and Mita, Masato and Oka, Teruaki and Komachi, Mamoru",
            "year": "2024",
            "title": "Token-length Bias in Minimal-pair Paradigm Datasets",
            "booktitle": "Proceedings of the 2024 Joint International Conference on Computational Linguistics, "
            "Language Resources and Evaluation (LREC-COLING 2024)",
            "publisher": "ELRA and ICCL",
            "pages": "16224–16236",
            "url": "https://aclanthology.org/2024.lrec-main.1410",
        },
    ),
    _acl(
        "salazar2020",
        "Salazar, Julian and Liang, Davis and Nguyen, Toan Q. and Kirchhoff, Katrin",
        "2020",
        "Masked Language Model Scoring",
        "Proceedings of the 58th Annual Meeting of the Association for Computational Linguistics",
        "2699–2712",
        "2020.acl-main.240",
    ),
    _acl(
        "kauf2023",
        "Kauf, Carina and Ivanova, Anna",
        "2023",
        "A Better Way to Do Masked Language Model Scoring",
        "Proceedings of the 61st Annual Meeting of the Association for Computational Linguistics (Volume 2: Short "
        "Papers)",
        "925–935",
        "2023.acl-short.80",
    ),
    _acl(
        "nangia2020",
        "Nangia, Nikita and Vania, Clara and Bhalerao, Rasika and Bowman, Samuel R.",
        "2020",
        "{CrowS-Pairs}: A Challenge Dataset for Measuring Social Biases in Masked Language Models",
        "Proceedings of the 2020 Conference on Empirical Methods in Natural Language Processing (EMNLP)",
        "1953–1967",
        "2020.emnlp-main.154",
    ),
    _acl(
        "blodgett2021",
        "Blodgett, Su Lin and Lopez, Gilsinia and Olteanu, Alexandra and Sim, Robert and Wallach, Hanna",
        "2021",
        "Stereotyping {Norwegian} Salmon: An Inventory of Pitfalls in Fairness Benchmark Datasets",
        "Proceedings of the 59th Annual Meeting of the Association for Computational Linguistics and the 11th "
        "International Joint Conference on Natural Language Processing (Volume 1: Long Papers)",
        "1004–1015",
        "2021.acl-long.81",
    ),
    _article(
        "kaneko2022",
        "Kaneko, Masahiro and Bollegala, Danushka",
        "2022",
        "Unmasking the Mask – Evaluating Social Biases in Masked Language Models",
        "Proceedings of the AAAI Conference on Artificial Intelligence",
        "36",
        "11",
        "11954–11962",
        "10.1609/aaai.v36i11.21453",
    ),
    _article(
        "lau2020",
        "Lau, Jey Han and Armendariz, Carlos and Lappin, Shalom and Purver, Matthew and Shu, Chang",
        "2020",
        "How Furiously Can Colorless Green Ideas Sleep? {Sentence} Acceptability in Context",
        "Transactions of the Association for Computational Linguistics",
        "8",
        "",
        "296–310",
        "10.1162/tacl_a_00315",
    ),
    _article(
        "warstadt2020",
        "Warstadt, Alex and Parrish, Alicia and Liu, Haokun and Mohananey, Anhad and Peng, Wei and Wang, Sheng-Fu and "
        "Bowman, Samuel R.",
        "2020",
        "{BLiMP}: The Benchmark of Linguistic Minimal Pairs for {English}",
        "Transactions of the Association for Computational Linguistics",
        "8",
        "",
        "377–392",
        "10.1162/tacl_a_00321",
    ),
    _acl(
        "misra2023",
        "Misra, Kanishka and Rayz, Julia and Ettinger, Allyson",
        "2023",
        "{COMPS}: Conceptual Minimal Pair Sentences for testing Robust Property Knowledge and its Inheritance in "
        "Pre-trained Language Models",
        "Proceedings of the 17th Conference of the European Chapter of the Association for Computational Linguistics",
        "2928–2949",
        "2023.eacl-main.213",
    ),
    _article(
        "monroe2008",
        "Monroe, Burt L. and Colaresi, Michael P. and Quinn, Kevin M.",
        "2008",
        "Fightin’ Words: Lexical Feature Selection and Evaluation for Identifying the Content of Political Conflict",
        "Political Analysis",
        "16",
        "4",
        "372–403",
        "10.1093/pan/mpn018",
    ),
    _article(
        "wilson1927",
        "Wilson, Edwin B.",
        "1927",
        "Probable Inference, the Law of Succession, and Statistical Inference",
        "Journal of the American Statistical Association",
        "22",
        "158",
        "209–212",
        "10.1080/01621459.1927.10502953",
    ),
    _article(
        "newcombe1998",
        "Newcombe, Robert G.",
        "1998",
        "Interval Estimation for the Difference between Independent Proportions: Comparison of Eleven Methods",
        "Statistics in Medicine",
        "17",
        "8",
        "873–890",
        "10.1002/(SICI)1097-0258(19980430)17:8<873::AID-SIM779>3.0.CO;2-I",
    ),
    _article(
        "mantel1959",
        "Mantel, Nathan and Haenszel, William",
        "1959",
        "Statistical Aspects of the Analysis of Data from Retrospective Studies of Disease",
        "Journal of the National Cancer Institute",
        "22",
        "4",
        "719–748",
        "10.1093/jnci/22.4.719",
    ),
    _article(
        "cochran1954",
        "Cochran, William G.",
        "1954",
        "Some Methods for Strengthening the Common {χ²} Tests",
        "Biometrics",
        "10",
        "4",
        "417–451",
        "10.2307/3001616",
    ),
    Reference(
        "efron1993",
        "book",
        {
            "author": "Efron, Bradley and Tibshirani, Robert J.",
            "year": "1993",
            "title": "An Introduction to the Bootstrap",
            "publisher": "Chapman & Hall",
            "address": "New York",
            "doi": "10.1007/978-1-4899-4541-9",
        },
    ),
    _article(
        "efron1987",
        "Efron, Bradley",
        "1987",
        "Better Bootstrap Confidence Intervals",
        "Journal of the American Statistical Association",
        "82",
        "397",
        "171–185",
        "10.1080/01621459.1987.10478410",
    ),
    Reference(
        "holm1979",
        "article",
        {
            "author": "Holm, Sture",
            "year": "1979",
            "title": "A Simple Sequentially Rejective Multiple Test Procedure",
            "journal": "Scandinavian Journal of Statistics",
            "volume": "6",
            "number": "2",
            "pages": "65–70",
            "url": "https://www.jstor.org/stable/4615733",
        },
    ),
    _article(
        "bonett2012",
        "Bonett, Douglas G. and Price, Robert M.",
        "2012",
        "Adjusted {Wald} Confidence Interval for a Difference of Binomial Proportions Based on Paired Data",
        "Journal of Educational and Behavioral Statistics",
        "37",
        "4",
        "479–488",
        "10.3102/1076998611411915",
    ),
    _article(
        "mcnemar1947",
        "McNemar, Quinn",
        "1947",
        "Note on the Sampling Error of the Difference between Correlated Proportions or Percentages",
        "Psychometrika",
        "12",
        "2",
        "153–157",
        "10.1007/BF02295996",
    ),
    Reference(
        "alali2024",
        "inproceedings",
        {
            "author": "Al Ali, Adnan and Libovický, Jindřich",
            "year": "2024",
            "title": "How Gender Interacts with Political Values: A Case Study on {Czech} {BERT} Models",
            "booktitle": "Proceedings of the 2024 Joint International Conference on Computational Linguistics, "
            "Language Resources and Evaluation (LREC-COLING 2024)",
        },
    ),
    _article(
        "hesterberg2015",
        "Hesterberg, Tim C.",
        "2015",
        "What Teachers Should Know About the Bootstrap: Resampling in the Undergraduate Statistics Curriculum",
        "The American Statistician",
        "69",
        "4",
        "371–386",
        "10.1080/00031305.2015.1089789",
    ),
    _article(
        "cronbach1951",
        "Cronbach, Lee J.",
        "1951",
        "Coefficient Alpha and the Internal Structure of Tests",
        "Psychometrika",
        "16",
        "3",
        "297–334",
        "10.1007/BF02310555",
    ),
    _article(
        "feldt1965",
        "Feldt, Leonard S.",
        "1965",
        "The Approximate Sampling Distribution of {Kuder-Richardson} Reliability Coefficient Twenty",
        "Psychometrika",
        "30",
        "3",
        "357–370",
        "10.1007/BF02289499",
    ),
    _article(
        "caliskan2017",
        "Caliskan, Aylin and Bryson, Joanna J. and Narayanan, Arvind",
        "2017",
        "Semantics Derived Automatically from Language Corpora Contain Human-like Biases",
        "Science",
        "356",
        "6334",
        "183–186",
        "10.1126/science.aal4230",
    ),
    _acl(
        "may2019",
        "May, Chandler and Wang, Alex and Bordia, Shikha and Bowman, Samuel R. and Rudinger, Rachel",
        "2019",
        "On Measuring Social Biases in Sentence Encoders",
        "Proceedings of the 2019 Conference of the North American Chapter of the Association for Computational "
        "Linguistics: Human Language Technologies, Volume 1 (Long and Short Papers)",
        "622–628",
        "N19-1063",
    ),
    _acl(
        "kurita2019",
        "Kurita, Keita and Vyas, Nidhi and Pareek, Ayush and Black, Alan W and Tsvetkov, Yulia",
        "2019",
        "Measuring Bias in Contextualized Word Representations",
        "Proceedings of the First Workshop on Gender Bias in Natural Language Processing",
        "166–172",
        "W19-3823",
    ),
    Reference(
        "guo2021",
        "inproceedings",
        {
            "author": "Guo, Wei and Caliskan, Aylin",
            "year": "2021",
            "title": "Detecting Emergent Intersectional Biases: Contextualized Word Embeddings Contain a Distribution "
            "of Human-like Biases",
            "booktitle": "Proceedings of the 2021 AAAI/ACM Conference on AI, Ethics, and Society",
            "publisher": "Association for Computing Machinery",
            "pages": "122–133",
            "doi": "10.1145/3461702.3462536",
        },
    ),
    Reference(
        "sadhu2024",
        "inproceedings",
        {
            "author": "Sadhu, Jayanta and Khan, Ayan Antik and Bhattacharjee, Abhik and Shahriyar, Rifat",
            "year": "2024",
            "title": "An Empirical Study on the Characteristics of Bias upon Context Length Variation for {Bangla}",
            "booktitle": "Findings of the Association for Computational Linguistics: ACL 2024",
            "publisher": "Association for Computational Linguistics",
            "url": "https://arxiv.org/abs/2406.17375",
        },
    ),
    _article(
        "dersimonian1986",
        "DerSimonian, Rebecca and Laird, Nan",
        "1986",
        "Meta-Analysis in Clinical Trials",
        "Controlled Clinical Trials",
        "7",
        "3",
        "177–188",
        "10.1016/0197-2456(86)90046-2",
    ),
    _article(
        "higgins2009",
        "Higgins, Julian P. T. and Thompson, Simon G. and Spiegelhalter, David J.",
        "2009",
        "A Re-evaluation of Random-effects Meta-analysis",
        "Journal of the Royal Statistical Society: Series A (Statistics in Society)",
        "172",
        "1",
        "137–159",
        "10.1111/j.1467-985X.2008.00552.x",
    ),
    _article(
        "zou2008",
        "Zou, Guang Yong and Donner, Allan",
        "2008",
        "Construction of Confidence Limits about Effect Measures: A General Approach",
        "Statistics in Medicine",
        "27",
        "10",
        "1693–1702",
        "10.1002/sim.3095",
    ),
)

REFERENCES: Mapping[str, Reference] = {reference.key: reference for reference in _ALL}
"""Every work that a paragraph may cite, by key."""
